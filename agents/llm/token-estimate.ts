/** Tokens a text may cost: about four letters, or one and a half Chinese characters, each. Rounded up. */
export function estimateTokens(text: string): number {
  return Math.ceil(estimateShare(text));
}

/** The same for a piece of a text, not rounded, so that pieces add up. */
export function estimateShare(text: string): number {
  const hanCount = text.match(/\p{Script=Han}/gu)?.length ?? 0;
  return hanCount / 1.5 + (text.length - hanCount) / 4;
}

/** The texts that a budget allows, the first that come; one that is too long does not keep the next from coming. */
export function withinTokens(texts: readonly string[], budgetTokens: number): string[] {
  let spentTokens = 0;
  return texts.filter((text) => {
    const tokens = estimateTokens(text);
    if (spentTokens + tokens > budgetTokens) return false;
    spentTokens += tokens;
    return true;
  });
}

/** The beginning of a text that a budget allows. */
export function firstTokens(text: string, budgetTokens: number): string {
  const tokens = estimateTokens(text);
  return tokens <= budgetTokens
    ? text
    : text.slice(0, Math.floor((text.length * budgetTokens) / tokens)).toWellFormed();
}
