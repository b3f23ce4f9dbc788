import type { SpeechChunk, TimedWord } from '../synthesizer.ts';
import { movementBetween } from '../visemes/visemes-of-phones.ts';

/** Words that begin within this time of a cut belong to what follows it: sums of milliseconds are not exact. */
export const cutToleranceMs = 0.01;

/** Cuts a chunk in two at a time in milliseconds; a word belongs to the part in which it begins. */
export function cutChunk(chunk: SpeechChunk, atMs: number): [before: SpeechChunk, after: SpeechChunk] {
  const { frame, text, words, mouth } = chunk;
  const sample = Math.round((atMs / 1000) * frame.sampleRate);
  const isBefore = ({ startMs }: { readonly startMs: number }): boolean => startMs < atMs - cutToleranceMs;
  const first = words?.filter(isBefore) ?? [];
  const last = words?.filter((word) => !isBefore(word)) ?? [];
  const textAt = last.length === 0 ? text.length : startOf(first, last, text);
  const wordsOf = (some: readonly TimedWord[]) => (words === undefined ? {} : { words: some });
  return [
    {
      ...chunk,
      frame: { ...frame, samples: frame.samples.subarray(0, sample) },
      text: text.slice(0, textAt),
      ...wordsOf(first),
      ...(mouth === undefined ? {} : { mouth: movementBetween(mouth, 0, atMs) }),
    },
    {
      ...chunk,
      frame: { ...frame, samples: frame.samples.subarray(sample), atMs: frame.atMs + atMs },
      text: text.slice(textAt),
      ...wordsOf(last.map((word) => ({ ...word, startMs: word.startMs - atMs, endMs: word.endMs - atMs }))),
      ...(mouth === undefined ? {} : { mouth: movementBetween(mouth, atMs) }),
    },
  ];
}

/** Returns where the first word after the cut begins in the text. */
function startOf(before: readonly TimedWord[], [first]: readonly TimedWord[], text: string): number {
  let at = 0;
  for (const word of before) at = Math.max(at, text.indexOf(word.text.trim(), at) + word.text.trim().length);
  return Math.max(at, text.indexOf(first?.text.trim() ?? '', at));
}
