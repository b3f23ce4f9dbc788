import { wordsOf } from '../history/backchannels.ts';
import type { Sounded } from '../contract/overlap.ts';

/** How long before its echo a word may have played: network, loudspeaker, microphone, and the word's own length. */
const agoMs = 1_500;

/** Tolerance for our clock being behind the client's. */
const aheadMs = 600;

/** Share of the recognized words that must occur, in the same order, among the words of the reply. */
const leastShare = 0.6;

/**
 * Returns true if the transcript is the character's own speech at that time: most of the words, in order. A user who
 * repeats the character's words at once is taken for its echo; that is the price of needing no echo cancellation.
 */
export function isEcho(text: string, { words, fromMs, toMs }: Sounded): boolean {
  const heard = unitsOf(text);
  const spoken = words
    .filter((word) => word.startMs >= fromMs - agoMs && word.startMs <= toMs + aheadMs)
    .flatMap((word) => unitsOf(word.text));
  if (heard.length === 0 || spoken.length === 0) return false;
  return commonInOrder(heard, spoken) >= leastShare * heard.length;
}

/** Splits into words, and into characters for scripts without spaces. */
function unitsOf(text: string): string[] {
  return wordsOf(text).flatMap((word) =>
    /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+$/u.test(word) ? (word.match(/./gsu) ?? []) : [word],
  );
}

/** Returns the length of the longest common subsequence. */
function commonInOrder(left: readonly string[], right: readonly string[]): number {
  let above = Array.from({ length: right.length + 1 }, () => 0);
  for (const unit of left) {
    const row = [0];
    for (let column = 0; column < right.length; column += 1) {
      row.push(unit === right[column] ? (above[column] ?? 0) + 1 : Math.max(above[column + 1] ?? 0, row[column] ?? 0));
    }
    above = row;
  }
  return above.at(-1) ?? 0;
}
