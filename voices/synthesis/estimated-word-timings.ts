import { concatSamples } from '../audio.ts';
import type { PcmBlock } from '../calls/pcm-stream.ts';
import { Resampler } from '../dsp/resampler.ts';
import type { MouthMovement, TimedWord } from '../synthesizer.ts';
import { wordTimes } from '../text/word-times.ts';
import { withToldWords, type ToldAudio, type ToldTimes } from './told-word-timings.ts';

/** Speaking rate of an engine so far. */
export interface SpeakingRate {
  /** Milliseconds per unit of text, see `unitsOf`; undefined before it has spoken. */
  msPerUnit: number | undefined;
}

/** Audio with the words that begin in it; times from its start. */
export interface TimedAudio {
  readonly samples: Float32Array;
  readonly text: string;
  readonly words: readonly TimedWord[];
  /** Absent if the engine places no sounds. */
  readonly mouth?: MouthMovement;
  /** Set if the engine itself tells the times of the words. */
  readonly isExact?: true;
}

/** Format of the output, and how to time its words. */
export interface WordTimingOptions {
  /** Output rate, in hertz. */
  readonly sampleRate: number;
  /** Fade-out at the end of the audio. */
  readonly fadeOutMs: number;
  /** True if all audio comes at once: words are then timed over all of it. */
  readonly comesWhole: boolean;
  readonly pace: SpeakingRate;
  /** Times that the engine sends; without, words count as told if they come with the first audio. */
  readonly times?: ToldTimes | undefined;
}

/** Pace of an average voice. */
const usualMsPerUnit = 75;
/** Weight of the last text in the running pace. */
const newShare = 0.4;
/** Audio held back until the end is known, so that some is left for the remaining words. */
const tailMs = 10;

/** Returns the length of a text in letters; a Chinese, Japanese or Korean character counts as three, as in speech. */
export function speechUnits(text: string): number {
  const dense = text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu)?.length ?? 0;
  return text.length + 2 * dense;
}

/**
 * Yields the audio of one text at one rate, each piece with the words it says. If the engine tells words with its first
 * audio, their times are its own; with `times`, the first audio waits for them until the second comes. Otherwise, if the
 * audio comes whole, words are timed by `wordTimes`, and else from the pace so far, and the remaining words come with
 * the last piece. The texts joined are `text`. Without audio nothing is yielded.
 */
export async function* withWordTimings(
  text: string,
  blocks: AsyncIterable<PcmBlock>,
  form: WordTimingOptions,
): AsyncGenerator<TimedAudio> {
  const pieces = atRate(blocks, form.sampleRate);
  const begun = await beginning(pieces, form.times === undefined ? 1 : 2);
  async function* all(): AsyncGenerator<ToldAudio> {
    yield* begun;
    yield* pieces;
  }
  if (begun.every(({ told }) => told === undefined)) yield* withEstimates(text, all(), form);
  else yield* withToldWords(text, all(), form);
}

/** Takes pieces until one tells words, or this many with audio have come. */
async function beginning(pieces: AsyncGenerator<ToldAudio>, mostWithAudio: number): Promise<ToldAudio[]> {
  const begun: ToldAudio[] = [];
  for (let withAudio = 0; withAudio < mostWithAudio;) {
    const next = await pieces.next();
    if (next.done === true) break;
    begun.push(next.value);
    if (next.value.told !== undefined) break;
    if (next.value.samples.length > 0) withAudio += 1;
  }
  return begun;
}

async function* withEstimates(
  text: string,
  pieces: AsyncIterable<ToldAudio>,
  form: WordTimingOptions,
): AsyncGenerator<TimedAudio> {
  const { sampleRate, fadeOutMs, pace } = form;
  if (form.comesWhole) {
    const samples = concatSamples((await Array.fromAsync(pieces)).map((piece) => piece.samples));
    if (samples.length === 0) return;
    fadeOut(samples, Math.round((fadeOutMs / 1000) * sampleRate));
    yield { samples, text, words: wordTimes(text, { startMs: 0, endMs: (samples.length / sampleRate) * 1000 }) };
    return;
  }
  const units = Math.max(1, speechUnits(text));
  const guess = wordTimes(text, { startMs: 0, endMs: units * (pace.msPerUnit ?? usualMsPerUnit) });
  const told = new WordAllocator(text, guess);
  const tailSamples = Math.round((Math.max(tailMs, fadeOutMs) / 1000) * sampleRate);
  let held: Float32Array = new Float32Array(0);
  let atMs = 0;
  const lengthMs = (samples: Float32Array): number => (samples.length / sampleRate) * 1000;
  for await (const { samples } of pieces) {
    held = concatSamples([held, samples]);
    const ready = held.length - tailSamples;
    if (ready <= 0) continue;
    const sound = held.slice(0, ready);
    held = held.slice(ready);
    yield { samples: sound, ...told.upTo(atMs, atMs + lengthMs(sound)) };
    atMs += lengthMs(sound);
  }
  if (held.length === 0) return;
  const endMs = atMs + lengthMs(held);
  fadeOut(held, Math.round((fadeOutMs / 1000) * sampleRate));
  yield { samples: held, ...told.rest(atMs, endMs) };
  const msPerUnit = endMs / units;
  pace.msPerUnit = pace.msPerUnit === undefined ? msPerUnit : pace.msPerUnit + newShare * (msPerUnit - pace.msPerUnit);
}

/** Gives out the words of a text in order, each once. */
class WordAllocator {
  readonly #text: string;
  readonly #words: readonly TimedWord[];
  /** Offset of each word in the text. */
  readonly #starts: readonly number[];
  #told = 0;

  constructor(text: string, words: readonly TimedWord[]) {
    this.#text = text;
    this.#words = words;
    let cursor = 0;
    this.#starts = words.map((word) => {
      const at = Math.max(cursor, text.indexOf(word.text, cursor));
      cursor = at + word.text.length;
      return at;
    });
  }

  /** Returns the words that begin between two times. */
  upTo(fromMs: number, toMs: number): Omit<TimedAudio, 'samples'> {
    const next = this.#words.findIndex((word, index) => index >= this.#told && word.startMs >= toMs);
    return this.#tell(next < 0 ? this.#words.length : next, fromMs, toMs);
  }

  /** Returns all remaining words, with the last audio. */
  rest(fromMs: number, toMs: number): Omit<TimedAudio, 'samples'> {
    return this.#tell(this.#words.length, fromMs, toMs, true);
  }

  #tell(end: number, fromMs: number, toMs: number, isLast = false): Omit<TimedAudio, 'samples'> {
    const first = this.#told;
    this.#told = end;
    const startOf = (index: number): number =>
      index === 0 ? 0 : index >= this.#words.length ? this.#text.length : (this.#starts[index] ?? this.#text.length);
    // If all words are given out, the trailing white space is kept for the last audio.
    const textEnd = !isLast && end === this.#words.length ? this.#endOfWords() : startOf(end);
    const textStart = first === this.#words.length && first > 0 ? this.#endOfWords() : startOf(first);
    const within = (ms: number): number => Math.min(Math.max(ms, fromMs), toMs) - fromMs;
    const words = this.#words.slice(first, end).map(({ text, startMs, endMs }) => ({
      text,
      startMs: within(startMs),
      endMs: within(endMs),
    }));
    return { text: this.#text.slice(textStart, isLast ? undefined : textEnd), words };
  }

  #endOfWords(): number {
    const last = this.#words.length - 1;
    return last < 0 ? 0 : (this.#starts[last] ?? 0) + (this.#words[last]?.text.length ?? 0);
  }
}

async function* atRate(blocks: AsyncIterable<PcmBlock>, sampleRate: number): AsyncGenerator<ToldAudio> {
  let resampler: Resampler | undefined;
  let from = 0;
  for await (const block of blocks) {
    if (block.sampleRate !== from) {
      if (resampler !== undefined) yield { samples: resampler.flush() };
      resampler = new Resampler(block.sampleRate, sampleRate);
      from = block.sampleRate;
    }
    const samples = resampler?.push(block.samples) ?? block.samples;
    const { told, sounds } = block;
    if (samples.length > 0 || told !== undefined || sounds !== undefined) yield { samples, told, sounds };
  }
  if (resampler !== undefined) yield { samples: resampler.flush() };
}

/** Fades out the last `length` samples, in place. */
function fadeOut(samples: Float32Array, length: number): void {
  const start = Math.max(0, samples.length - length);
  for (let index = start; index < samples.length; index += 1) {
    samples[index] = (samples[index] as number) * ((samples.length - index) / (samples.length - start));
  }
}
