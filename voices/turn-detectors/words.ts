import { readFileSync } from 'node:fs';
import { writingOf } from '../text/scripts.ts';
import { isShortAnswer } from './short-answers.ts';

/**
 * Completeness of words: a gated recurrent network over the last words of a turn, English and Chinese, without marks and
 * capitals, which a recognizer sets as it likes. Trained by `test/bench/endpointing/words/train.py`; its sources and
 * their licences are listed there.
 */
const modelUrl = new URL('./words.bin', import.meta.url);

/** Words of a turn, and of the character's line before it, that are looked at. */
const most = { words: 30, before: 8 };
const ids = { noContext: 1, statement: 2, question: 3, otherChinese: 4 };
const magic = 0x31_44_54_57;

/** Share of the words that must be known: a text in another language is not judged. */
const leastKnown = 0.5;

/** Least log-odds of "of course" and "好的". */
const shortAnswerLogit = 1.5;

/** Limit of the logit, 2 % and 98 %: people do stop after "the", and go on after "thank you". */
const mostLogit = 4;

/**
 * Returns the log-odds that a turn with this transcript is over, given a pause after it. `before`: the character's line
 * that it answers. 0 is undecided: no words, or another language. Takes about a millisecond.
 */
export function wordsLogit(transcript: string, options: { language?: string; before?: string } = {}): number {
  const words = wordsOf(transcript).slice(-most.words);
  if (words.length === 0 || !isKnown(transcript, options.language)) return 0;
  const model = (loaded ??= loadModel());
  const known = words.filter((word) => model.places.has(word)).length;
  if (known < leastKnown * words.length) return 0;
  const logit = model.run([...contextOf(model, options.before), ...words.map((word) => model.idOf(word))]);
  const said = isShortAnswer(words.join(' ')) ? Math.max(logit, shortAnswerLogit) : logit;
  return Math.max(-mostLogit, Math.min(mostLogit, said + markLogit(transcript.trim())));
}

/**
 * Weight of the recognizer's last mark: it hears the melody as well. Set by hand, because there are too few recordings:
 * nine of ten transcripts that are cut short end with a full stop, too.
 */
function markLogit(text: string): number {
  if (/[?？]["'”’]?$/u.test(text)) return 1;
  if (/(?:[,，、;；:：–—-]|\.{2,}|…)$/u.test(text)) return -0.7;
  // A recognizer without capitals and marks says nothing by leaving the last mark out.
  return /[\p{Lu},.!?，。！？]/u.test(text) && /[\p{L}\p{N}]$/u.test(text) ? -0.7 : 0;
}

function isKnown(transcript: string, language: string | undefined): boolean {
  const { script } = writingOf(transcript);
  // A Chinese speaker may say an English sentence, so the script of the text counts most.
  if (script === 'han') return true;
  return (script === 'latin' || script === undefined) && (language === undefined || /^(?:en|zh)\b/i.test(language));
}

/** The words of a text in lower case without marks; each Chinese character is one. */
function wordsOf(text: string): string[] {
  const plain = text.slice(-1_000).toLowerCase().replaceAll('’', "'");
  return plain.match(/[a-z0-9]+(?:'[a-z]+)*|[\u3400-\u9fff]/g) ?? [];
}

function contextOf(model: WordsModel, before: string | undefined): number[] {
  const words = before === undefined ? [] : wordsOf(before).slice(-most.before);
  if (words.length === 0) return [ids.noContext];
  const asks = /[?？][^\p{L}\p{N}]*$/u.test(before ?? '');
  return [...words.map((word) => model.idOf(word)), asks ? ids.question : ids.statement];
}

interface WordsModel {
  readonly places: ReadonlyMap<string, number>;
  idOf(word: string): number;
  run(tokens: readonly number[]): number;
}

let loaded: WordsModel | undefined;

interface Matrix {
  readonly values: Float32Array;
}

/** Reads the weights, which `store` in the training program wrote: 8-bit integers with one scale for each row. */
function loadModel(): WordsModel {
  const bytes = new Uint8Array(readFileSync(modelUrl));
  let at = 0;
  const take = (count: number): ArrayBuffer => {
    const part = bytes.slice(at, at + count).buffer;
    at += count + (-count & 3);
    return part;
  };
  const header = new Uint32Array(take(28));
  const [kind, width = 0, hidden = 0, special = 0, endings = 0, known = 0, textBytes = 0] = header;
  if (kind !== magic) throw new Error(`${modelUrl.pathname} does not contain the weights of this detector.`);
  const words = new TextDecoder().decode(take(textBytes)).split('\n');
  const matrix = (rows: number, columns: number): Matrix => {
    const scales = new Float32Array(take(rows * 4));
    const numbers = new Int8Array(take(rows * columns));
    const values = Float32Array.from(
      numbers,
      (value, place) => value * (scales[Math.floor(place / columns)] as number),
    );
    return { values };
  };
  const embedding = matrix(special + endings + known, width);
  const weights = {
    input: matrix(3 * hidden, width),
    state: matrix(3 * hidden, hidden),
    out: matrix(1, hidden),
    inputBias: new Float32Array(take(12 * hidden)),
    stateBias: new Float32Array(take(12 * hidden)),
    outBias: new Float32Array(take(4))[0] as number,
  };
  const places = new Map(words.map((word, index) => [word, special + endings + index]));
  return {
    places,
    idOf: (word) =>
      places.get(word) ?? (/^[a-z0-9]/.test(word) ? special + (hashOf(word.slice(-3)) % endings) : ids.otherChinese),
    run(tokens) {
      const state = new Float32Array(hidden);
      for (const token of tokens)
        advance(state, embedding.values.subarray(token * width, (token + 1) * width), weights);
      return dot(weights.out.values, 0, state) + weights.outBias;
    },
  };
}

interface GruWeights {
  readonly input: Matrix;
  readonly state: Matrix;
  readonly out: Matrix;
  readonly inputBias: Float32Array;
  readonly stateBias: Float32Array;
}

/** One step of the network: reset gate, update gate, new state, in the order of PyTorch. */
function advance(
  state: Float32Array,
  word: Float32Array,
  { input, state: own, inputBias, stateBias }: GruWeights,
): void {
  const size = state.length;
  const next = new Float32Array(size);
  const fromWord = (row: number): number => dot(input.values, row * word.length, word) + (inputBias[row] as number);
  const fromState = (row: number): number => dot(own.values, row * size, state) + (stateBias[row] as number);
  for (let unit = 0; unit < size; unit += 1) {
    const reset = sigmoid(fromWord(unit) + fromState(unit));
    const update = sigmoid(fromWord(size + unit) + fromState(size + unit));
    const fresh = Math.tanh(fromWord(2 * size + unit) + reset * fromState(2 * size + unit));
    next[unit] = (1 - update) * fresh + update * (state[unit] as number);
  }
  state.set(next);
}

/** Inner product of `vector`, of a length divisible by four, and the row that begins at `from`. */
function dot(values: Float32Array, from: number, vector: Float32Array): number {
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  for (let place = 0; place < vector.length; place += 4) {
    a += (values[from + place] as number) * (vector[place] as number);
    b += (values[from + place + 1] as number) * (vector[place + 1] as number);
    c += (values[from + place + 2] as number) * (vector[place + 2] as number);
    d += (values[from + place + 3] as number) * (vector[place + 3] as number);
  }
  return a + b + c + d;
}

function sigmoid(value: number): number {
  return 1 / (1 + Math.exp(-value));
}

/** FNV-1a, as in the training program: an unknown English word is known by its ending. */
function hashOf(text: string): number {
  let value = 2_166_136_261;
  for (const byte of new TextEncoder().encode(text)) value = Math.imul(value ^ byte, 16_777_619) >>> 0;
  return value;
}
