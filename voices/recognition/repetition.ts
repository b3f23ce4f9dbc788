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
 * four words from three times, five to seven from twice, each but for one word; of a longer loop half is enough the second
 * time. Case and punctuation make no difference.
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

/** How many words from `start` on repeat what stands `length` words before them, the first time included. */
function coveredByLoop(words: readonly string[], start: number, length: number): number {
  let end = start + length;
  while (end < words.length && words[end] === words[end - length]) end += 1;
  return end - start;
}
