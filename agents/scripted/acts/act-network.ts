import { readFileSync } from 'node:fs';

/** Dialogue acts of a user message: what it does, before what it is about. Their order is that of the network's outputs. */
export const acts = [
  'stop',
  'goodbye',
  'good-night',
  'introduction',
  'own-fact',
  'arithmetic',
  'hearing',
  'wellbeing',
  'doing',
  'who',
  'where',
  'when',
  'loss',
  'lonely',
  'angry',
  'tired',
  'afraid',
  'ill',
  'bored',
  'failed',
  'sad',
  'happy',
  'sorry',
  'insult',
  'rude',
  'disbelief',
  'praise',
  'interest',
  'pity',
  'worry',
  'trouble',
  'advice',
  'meeting',
  'agree',
  'disagree',
  'confused',
  'yes',
  'no',
  'change',
  'why',
  'more',
  'thanks',
  'greeting',
  'laugh',
  'back',
  'dismissed',
  'asks-leave',
  'luck',
  'manner',
  'offer',
  'help',
  'question',
  'statement',
] as const;

export type Act = (typeof acts)[number];

/**
 * Recognizes the dialogue act of one sentence or clause: the sum of the vectors of its n-grams, and one layer on it.
 * The weights were learned by `test/bench/agents/acts/train.ts` from the messages beside it; no text is in them.
 */
const modelUrl = new URL('act-network.bin', import.meta.url);

/** Size of the network: rows that n-grams are hashed to, and numbers in a row. */
export const size = { rows: 8192, width: 20 };

/** Weights: a vector for each row, then a vector and a bias for each act, in the order of `acts`. */
export interface ActWeights {
  readonly rows: Float32Array;
  readonly outputs: Float32Array;
  readonly biases: Float32Array;
}

/** An act, and how sure the network is of it, 0 to 1. */
export interface RecognizedAct {
  readonly act: Act;
  readonly probability: number;
}

/** Returns the likeliest act of a sentence or clause in lower case without marks; `isAsked`: it has the form of a question. */
export function recognizeAct(text: string, isAsked: boolean): RecognizedAct {
  const probabilities = probabilitiesOf(rowsOf(text, isAsked), (loaded ??= load()));
  let best = 0;
  for (let place = 1; place < acts.length; place += 1)
    if ((probabilities[place] ?? 0) > (probabilities[best] ?? 0)) best = place;
  return { act: acts[best] as Act, probability: probabilities[best] ?? 0 };
}

let loaded: ActWeights | undefined;

/** Reads 8-bit integers, with one scale for each of the three parts. */
function load(): ActWeights {
  const bytes = readFileSync(modelUrl);
  const scales = [0, 4, 8].map((at) => bytes.readFloatLE(at));
  const counts = [size.rows * size.width, acts.length * size.width, acts.length];
  let at = 12;
  const [rows, outputs, biases] = counts.map((count, part) => {
    const numbers = new Int8Array(bytes.subarray(at, at + count));
    at += count;
    return Float32Array.from(numbers, (number) => number * (scales[part] ?? 0));
  });
  if (rows === undefined || outputs === undefined || biases?.length !== acts.length)
    throw new Error(`${modelUrl.pathname} does not contain the weights of ${acts.length} acts.`);
  return { rows, outputs, biases };
}

/** Probability of each act. */
export function probabilitiesOf(rows: readonly number[], weights: ActWeights): Float64Array {
  const sum = meanOf(rows, weights.rows);
  const scores = Float64Array.from(weights.biases, (bias, act) => {
    let score = bias;
    for (let place = 0; place < size.width; place += 1)
      score += (sum[place] ?? 0) * (weights.outputs[act * size.width + place] ?? 0);
    return score;
  });
  const most = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - most));
  const total = powers.reduce((all, power) => all + power, 0);
  return powers.map((power) => power / total);
}

/** Sum of the vectors of these rows, divided by the root of their number: long sentences weigh no more. */
export function meanOf(rows: readonly number[], vectors: Float32Array): Float64Array {
  const sum = new Float64Array(size.width);
  for (const row of rows)
    for (let place = 0; place < size.width; place += 1)
      sum[place] = (sum[place] ?? 0) + (vectors[row * size.width + place] ?? 0);
  return sum.map((value) => value / Math.sqrt(Math.max(1, rows.length)));
}

/** Rows of the n-grams of a sentence: words, pairs and threes of words with their place, and parts of words. */
export function rowsOf(text: string, isAsked: boolean): number[] {
  const words = text.match(/\p{Script=Han}|[\p{L}\p{N}']+/gu) ?? [];
  const bounded = ['^', ...words, '$'];
  const grams = [
    isAsked ? '?' : '.',
    `#${Math.min(words.length, 8)}`,
    ...words,
    ...bounded.slice(1).map((word, place) => `${bounded[place] ?? ''} ${word}`),
    ...bounded.slice(2).map((word, place) => `${bounded[place] ?? ''} ${bounded[place + 1] ?? ''} ${word}`),
    ...words.filter((word) => word.length > 3).flatMap((word) => [`${word.slice(0, 4)}*`, `*${word.slice(-3)}`]),
  ];
  return [...new Set(grams.map((gram) => hashOf(gram) % size.rows))];
}

/** FNV-1a. */
function hashOf(text: string): number {
  let value = 2_166_136_261;
  for (let place = 0; place < text.length; place += 1)
    value = Math.imul(value ^ text.charCodeAt(place), 16_777_619) >>> 0;
  return (value ^ (value >>> 15)) >>> 0;
}
