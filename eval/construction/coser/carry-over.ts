import { tokensOf } from '../../text-metrics/tokens.ts';

/**
 * Index from which a text is given again before the next chunk: from the start of the unfinished storyline the first
 * fifth of the rest is dropped, then everything to the end of the line.
 */
export function carryFrom(text: string, start: number): number {
  const at = start + Math.floor((text.length - start) * 0.2);
  const newline = text.indexOf('\n', at);
  return newline < 0 ? at : newline + 1;
}

/** Share of common trigrams of tokens in all trigrams of two texts. */
export function trigramJaccard(left: string, right: string): number {
  const [one, two] = [trigramsOf(left), trigramsOf(right)];
  const common = one.intersection(two).size;
  const all = one.union(two).size;
  return all === 0 ? 0 : common / all;
}

function trigramsOf(text: string): Set<string> {
  const tokens = tokensOf(text, 'han');
  return new Set(tokens.slice(2).map((token, index) => `${tokens[index]} ${tokens[index + 1]} ${token}`));
}

const leastJaccard = 0.3;

/** The new plot that continues an unfinished one, by their summaries: the last of the best; undefined if none is near. */
export function continuationOf<Plot extends { readonly summary: string }>(
  { summary }: { readonly summary: string },
  plots: readonly Plot[],
): Plot | undefined {
  let best: Plot | undefined;
  let bestShare = leastJaccard;
  for (const plot of plots) {
    const share = trigramJaccard(summary, plot.summary);
    if (share >= bestShare) [best, bestShare] = [plot, share];
  }
  return best;
}
