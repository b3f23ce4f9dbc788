/** Tokens a text may cost: about four letters, or one and a half Chinese characters, each. Rounded up. */
export function estimateTokens(text: string): number {
  return Math.ceil(estimateShare(text));
}

/** The same for a piece of a text, not rounded, so that pieces add up. */
export function estimateShare(text: string): number {
  const hanCount = text.match(/\p{Script=Han}/gu)?.length ?? 0;
  return hanCount / 1.5 + (text.length - hanCount) / 4;
}
