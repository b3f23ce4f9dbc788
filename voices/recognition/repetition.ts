/** Longest loop to look for, in words. */
const mostWords = 12;

/** Loop of words repeated right after each other, as ASR models produce when they fail. */
export interface Repetition {
  /** Fraction of all words that belong to the loop, 0 to 1; 0 if nothing is repeated. */
  readonly share: number;
  /** Length of the repeated phrase, in words; 0 if there is none. */
  readonly words: number;
}

/**
 * Finds the loop that covers most of a text. People repeat themselves too, so a loop counts only from a minimum length:
 * a single word four times in a row; two to four words three times, or five to seven words twice, in each case less one
 * word; longer phrases one and a half times. Case and punctuation are ignored.
 */
export function findRepetition(text: string): Repetition {
  const words = text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? [];
  let longest: Repetition = { share: 0, words: 0 };
  for (let length = 1; length <= mostWords; length += 1) {
    const least = leastCovered(length);
    for (let start = 0; start + least <= words.length; start += 1) {
      const covered = coveredByLoop(words, start, length);
      const share = covered / words.length;
      if (covered >= least && share > longest.share) longest = { share, words: length };
    }
  }
  return longest;
}

function leastCovered(length: number): number {
  if (length === 1) return 4;
  if (length < 5) return 3 * length - 1;
  return length < 8 ? 2 * length - 1 : 1.5 * length;
}

/** Counts the words from `start` on that equal the word `length` before them, the first occurrence included. */
function coveredByLoop(words: readonly string[], start: number, length: number): number {
  let end = start + length;
  while (end < words.length && words[end] === words[end - length]) end += 1;
  return end - start;
}
