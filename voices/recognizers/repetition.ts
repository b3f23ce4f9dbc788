/** The longest loop looked for. */
const mostWords = 12;

/** Words that come again and again, right after each other. */
export interface Repetition {
  /** Part of all words that belong to the loop, 0 to 1; 0 where nothing is repeated. */
  readonly share: number;
  /** Length of what is repeated, in words; 0 where nothing is. */
  readonly words: number;
}

/**
 * The loop that fills most of a text. People repeat themselves, too: a single word counts from four times in a row, two to
 * four words from three times, more from twice. Case and punctuation make no difference.
 */
export function findRepetition(text: string): Repetition {
  const words = text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? [];
  let longest: Repetition = { share: 0, words: 0 };
  for (let length = 1; length <= Math.min(mostWords, words.length / 2); length += 1) {
    const leastTimes = length === 1 ? 4 : length < 5 ? 3 : 2;
    for (let start = 0; start + length * leastTimes <= words.length; start += 1) {
      const share = (timesInARow(words, start, length) * length) / words.length;
      if (share > longest.share && share * words.length >= leastTimes * length) longest = { share, words: length };
    }
  }
  return longest;
}

function timesInARow(words: readonly string[], start: number, length: number): number {
  let end = start + length;
  while (end < words.length && words[end] === words[end - length]) end += 1;
  return Math.floor((end - start) / length);
}
