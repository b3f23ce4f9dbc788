import { tokensOf, type TokenKind } from './tokens.ts';
import { mean } from '../../voices/dsp/statistics.ts';

/** F-measure over several references: the best, their mean, or that of the first one. */
export const referenceChoices = ['max', 'mean', 'first'] as const;
export type ReferenceChoice = (typeof referenceChoices)[number];

export interface RougeOptions {
  readonly tokens: TokenKind;
  readonly references: ReferenceChoice;
}

/** Returns the F-measure of ROUGE-L of a candidate, 0 to 1; null without references. */
export function rougeL(candidate: string, references: readonly string[], options: RougeOptions): number | null {
  const { tokens, references: choice } = options;
  const used = choice === 'first' ? references.slice(0, 1) : references;
  if (used.length === 0) return null;
  const measures = used.map((reference) =>
    tokens === 'set'
      ? setMeasure(candidate, reference)
      : sequenceMeasure(tokensOf(candidate, tokens), tokensOf(reference, tokens), tokens === 'marks' ? 1e-8 : 0),
  );
  return choice === 'mean' ? mean(measures) : Math.max(...measures);
}

/** `guard` is what `rouge-chinese` adds to a denominator. */
function sequenceMeasure(candidate: readonly string[], reference: readonly string[], guard: number): number {
  return fMeasure(commonLength(candidate, reference), candidate.length, reference.length, guard);
}

function fMeasure(common: number, candidate: number, reference: number, guard = 0): number {
  if (common === 0) return 0;
  const precision = common / candidate;
  const recall = common / reference;
  return (2 * precision * recall) / (precision + recall + guard);
}

/** Length of the longest common subsequence. */
function commonLength(a: readonly string[], b: readonly string[]): number {
  const numbers = new Map<string, number>();
  const numberOf = (token: string): number => {
    const known = numbers.get(token) ?? numbers.size;
    numbers.set(token, known);
    return known;
  };
  const [first, second] = [Int32Array.from(a, numberOf), Int32Array.from(b, numberOf)];
  const row = new Int32Array(second.length + 1);
  for (const token of first) {
    let diagonal = 0;
    for (let at = 1; at <= second.length; at += 1) {
      const above = row[at] as number;
      row[at] = token === second[at - 1] ? diagonal + 1 : Math.max(above, row[at - 1] as number);
      diagonal = above;
    }
  }
  return row[second.length] as number;
}

/**
 * The variant of the PyPI package `rouge`: sentences end at full stops; for each pair of sentences the words of their
 * longest common subsequence; sets of different words are counted.
 */
function setMeasure(candidate: string, reference: string): number {
  const [ours, theirs] = [sentencesOf(candidate), sentencesOf(reference)];
  const common = new Set(theirs.flatMap((sentence) => ours.flatMap((other) => commonWords(sentence, other))));
  return fMeasure(common.size, new Set(ours.flat()).size, new Set(theirs.flat()).size);
}

function sentencesOf(text: string): (readonly string[])[] {
  return text.split('.').map((sentence) => tokensOf(sentence, 'words'));
}

/** Words of the longest common subsequence; of several the one that the package finds. */
function commonWords(reference: readonly string[], candidate: readonly string[]): string[] {
  const width = candidate.length + 1;
  const lengths = new Int32Array((reference.length + 1) * width);
  const at = (row: number, column: number): number => lengths[row * width + column] as number;
  for (const [row, word] of reference.entries())
    for (const [column, other] of candidate.entries())
      lengths[(row + 1) * width + column + 1] =
        word === other ? at(row, column) + 1 : Math.max(at(row, column + 1), at(row + 1, column));
  const words: string[] = [];
  for (let [row, column] = [reference.length, candidate.length]; row > 0 && column > 0;) {
    const word = reference[row - 1] as string;
    if (word === candidate[column - 1]) {
      words.push(word);
      row -= 1;
      column -= 1;
    } else if (at(row - 1, column) > at(row, column - 1)) row -= 1;
    else column -= 1;
  }
  return words;
}
