/** Estimated tokens of a text: one for about four letters, or for one and a half Chinese characters. Rounded up. */
export function estimateTokens(text: string): number {
  return Math.ceil(estimateShare(text));
}

/** Unrounded estimate for a piece of a text, so that pieces add up. */
export function estimateShare(text: string): number {
  const hanCount = text.match(/\p{Script=Han}/gu)?.length ?? 0;
  return hanCount / 1.5 + (text.length - hanCount) / 4;
}

/** Takes texts in order while they fit the budget; skips one that is too long and continues. */
export function withinTokens(texts: readonly string[], budgetTokens: number): string[] {
  let spentTokens = 0;
  return texts.filter((text) => {
    const tokens = estimateTokens(text);
    if (spentTokens + tokens > budgetTokens) return false;
    spentTokens += tokens;
    return true;
  });
}

/** Start of a text, cut to the budget. */
export function firstTokens(text: string, budgetTokens: number): string {
  const tokens = estimateTokens(text);
  return tokens <= budgetTokens
    ? text
    : text.slice(0, Math.floor((text.length * budgetTokens) / tokens)).toWellFormed();
}
