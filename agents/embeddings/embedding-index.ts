import { median } from '../../voices/dsp/statistics.ts';
import { keepBest, type Ranked } from '../retrieval/bm25.ts';
import { cosineSimilarity } from './embedder.ts';

/** Nearest-neighbour index of embeddings. All have the dimension of the first; others are ignored. */
export interface EmbeddingIndex {
  /** Number of embeddings. */
  readonly size: number;
  /** Adds the embedding of the text with this index. */
  place(index: number, point: Float32Array): void;
  /**
   * Returns the `count` nearest neighbours, nearest first; `score` is cosine similarity, -1 to 1. There always is a
   * nearest one: `standingOut` returns only those more similar than random texts would be.
   */
  search(point: Float32Array, count: number, standingOut?: boolean): readonly Ranked[];
}

/** Up to this number all are compared exactly: a comparison of 1,000 dimensions takes a microsecond. */
const fewPoints = 256;
/** Shortlist size of larger indexes, as a multiple of `count`, and at least `leastShortlist`. */
const shortlistShare = 3;
const leastShortlist = 64;
const bits = 32;
/** Below this number chance similarity cannot be estimated. */
const fewToTell = 8;
/** Sample size for estimating chance similarity. */
const sampleSize = 64;
/** Standard deviation of a normal distribution divided by its median absolute deviation. */
const deviationOfHalf = 1.4826;

/**
 * Opens an index with binary quantization and rescoring: compares signs first, 32 dimensions in one step, so that 5,000
 * embeddings of 1,024 dimensions take under a millisecond rather than seven. The best of those are compared exactly.
 */
export function openEmbeddingIndex(): EmbeddingIndex {
  const points: { readonly index: number; readonly point: Float32Array }[] = [];
  let width = 0;
  let signs = new Int32Array(0);

  /** Number of equal signs of each embedding and `asked`, with a histogram of these numbers. */
  const compare = (asked: Int32Array): { readonly agreed: Uint16Array; readonly counts: Uint32Array } => {
    const agreed = new Uint16Array(points.length);
    const counts = new Uint32Array(width * bits + 1);
    for (let at = 0; at < points.length; at += 1) {
      const same = width * bits - differing(signs, at * width, asked);
      agreed[at] = same;
      counts[same] = (counts[same] ?? 0) + 1;
    }
    return { agreed, counts };
  };

  const shortlist = (point: Float32Array, count: number): readonly number[] => {
    if (points.length <= fewPoints) return [...points.keys()];
    const { agreed, counts } = compare(signsOf(point));
    let left = Math.max(leastShortlist, count * shortlistShare);
    let least = counts.length;
    while (left > 0 && least > 0) left -= counts[(least -= 1)] ?? 0;
    const listed: number[] = [];
    for (let at = 0; at < agreed.length; at += 1) if ((agreed[at] as number) >= least) listed.push(at);
    return listed;
  };

  return {
    get size() {
      return points.length;
    },
    place(index, point) {
      if (width === 0) width = widthOf(point);
      if (point.length !== (points[0]?.point.length ?? point.length)) return;
      const from = points.length * width;
      if (from + width > signs.length) {
        const longer = new Int32Array(Math.max(64 * width, signs.length * 2));
        longer.set(signs);
        signs = longer;
      }
      signs.set(signsOf(point), from);
      points.push({ index, point });
    },
    search(point, count, standingOut = false) {
      if (point.length !== points[0]?.point.length) return [];
      const best: Ranked[] = [];
      for (const at of shortlist(point, count)) {
        const known = points[at];
        if (known !== undefined)
          keepBest(best, { index: known.index, score: cosineSimilarity(known.point, point) }, count);
      }
      if (!standingOut || points.length < fewToTell) return best;
      const least = chanceSimilarity(points, point);
      return best.filter(({ score }) => score > least);
    },
  };
}

function signsOf(point: Float32Array): Int32Array {
  const words = new Int32Array(widthOf(point));
  for (let word = 0; word < words.length; word += 1) {
    const from = word * bits;
    const until = Math.min(point.length, from + bits);
    let signs = 0;
    for (let at = from; at < until; at += 1) if ((point[at] as number) > 0) signs |= 1 << (at - from);
    words[word] = signs;
  }
  return words;
}

/** Words for the signs of an embedding; even, since two are compared at a time. */
function widthOf(point: Float32Array): number {
  return 2 * Math.ceil(point.length / bits / 2);
}

/** Hamming distance (Warren, Hacker's Delight, figure 5-2, two words at a time). */
function differing(signs: Int32Array, from: number, asked: Int32Array): number {
  let count = 0;
  for (let at = 0; at < asked.length; at += 2) {
    const left = (signs[from + at] as number) ^ (asked[at] as number);
    const right = (signs[from + at + 1] as number) ^ (asked[at + 1] as number);
    const nibbles = nibblesOf(left) + nibblesOf(right);
    const bytes = (nibbles & 0x0f_0f_0f_0f) + ((nibbles >>> 4) & 0x0f_0f_0f_0f);
    count += Math.imul(bytes, 0x01_01_01_01) >>> 24;
  }
  return count;
}

/** Population count of each group of four bits. */
function nibblesOf(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55_55_55_55);
  return (pairs & 0x33_33_33_33) + ((pairs >>> 2) & 0x33_33_33_33);
}

/**
 * Expected maximum similarity of n random texts, n being the size of the index (maximum of n normal values; median and MAD
 * are robust to a few true matches).
 */
function chanceSimilarity(points: readonly { readonly point: Float32Array }[], point: Float32Array): number {
  const step = Math.ceil(points.length / sampleSize);
  const sampled = points.filter((_, at) => at % step === 0).map((known) => cosineSimilarity(known.point, point));
  const middle = median(sampled);
  const deviation = deviationOfHalf * median(sampled.map((score) => Math.abs(score - middle)));
  return middle + deviation * Math.sqrt(2 * Math.log(points.length));
}
