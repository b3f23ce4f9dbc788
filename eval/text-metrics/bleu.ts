import { treebankTokens } from './treebank.ts';

/** Longest n-gram that counts. */
const longest = 4;

/**
 * Sentence BLEU against one reference: 4-gram, uniform weights, brevity penalty, no smoothing, Treebank tokens in lower
 * case. 0 if n-grams of some length have no match, where the reference library returns about 1e-78.
 */
export function sentenceBleu(candidate: string, reference: string): number {
  const [ours, theirs] = [treebankTokens(candidate), treebankTokens(reference)];
  if (ours.length === 0) return 0;
  let logs = 0;
  for (let size = 1; size <= longest; size += 1) {
    const found = gramsOf(ours, size);
    const known = gramsOf(theirs, size);
    let matches = 0;
    for (const [gram, count] of found) matches += Math.min(count, known.get(gram) ?? 0);
    if (matches === 0) return 0;
    logs += Math.log(matches / (ours.length - size + 1)) / longest;
  }
  return Math.exp(logs + Math.min(0, 1 - theirs.length / ours.length));
}

function gramsOf(tokens: readonly string[], size: number): Map<string, number> {
  const grams = new Map<string, number>();
  for (let at = 0; at + size <= tokens.length; at += 1) {
    const gram = tokens.slice(at, at + size).join(' ');
    grams.set(gram, (grams.get(gram) ?? 0) + 1);
  }
  return grams;
}
