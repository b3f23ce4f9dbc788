import { couldReach, similarity } from './similarity.ts';

export interface Sentence {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** Sentences of a text: they end after . ! ? 。 ！ ？ or at a line break. */
export function sentencesOf(text: string): Sentence[] {
  const found: Sentence[] = [];
  for (const match of text.matchAll(/[^\n.!?。！？]*(?:[.!?。！？]+["”’」』)]*|\n|$)/gu)) {
    const trimmed = match[0].trim();
    if (trimmed === '') continue;
    const from = match.index + match[0].indexOf(trimmed[0] as string);
    found.push({ from, to: from + trimmed.length, text: trimmed });
  }
  return found;
}

const leastSimilarity = 0.6;

/** The sentence most similar to a quote, at least 0.6; of equals, the first. `from`: index of the first to look at. */
export function locate(sentences: readonly Sentence[], quote: string, from = 0): number | undefined {
  const sought = quote.trim();
  let best: number | undefined;
  let bestValue = 0;
  for (let index = from; index < sentences.length; index += 1) {
    const { text } = sentences[index] as Sentence;
    if (text === sought) return index;
    if (!couldReach(text, sought, Math.max(leastSimilarity, bestValue))) continue;
    const value = similarity(text, sought);
    if (value >= leastSimilarity && value > bestValue) [best, bestValue] = [index, value];
  }
  return best;
}

/** The passage from one quoted sentence to the end of another, which is looked for after the first. */
export function locatePassage(
  text: string,
  sentences: readonly Sentence[],
  { first, last }: { readonly first: string; readonly last: string },
): { readonly from: number; readonly to: number; readonly text: string } | undefined {
  const start = locate(sentences, firstSentence(first));
  if (start === undefined) return undefined;
  const end = locate(sentences, lastSentence(last), start);
  if (end === undefined) return undefined;
  const [from, to] = [(sentences[start] as Sentence).from, (sentences[end] as Sentence).to];
  return { from, to, text: text.slice(from, to) };
}

function firstSentence(quote: string): string {
  return sentencesOf(quote)[0]?.text ?? quote;
}

function lastSentence(quote: string): string {
  return sentencesOf(quote).at(-1)?.text ?? quote;
}
