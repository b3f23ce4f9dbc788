import { concatSamples } from '../audio.ts';
import type { MouthMovement, TimedPhone, TimedWord } from '../synthesizer.ts';
import { wordTimes } from '../text/word-times.ts';
import { ToldShapes } from '../visemes/told-shapes.ts';

/**
 * Times that an engine sends with its audio: of words; of words and sounds; of words and shapes of the mouth, each as a
 * sound that has this shape.
 */
export type ToldTimes = 'words' | 'sounds' | 'shapes';

/** Audio at one rate, with the words and sounds that the engine places; times from the start of all audio. */
export interface ToldAudio {
  readonly samples: Float32Array;
  readonly told?: readonly TimedWord[] | undefined;
  readonly sounds?: readonly TimedPhone[] | undefined;
}

/** Audio with the part of the text that it says; times of words and shapes from its start. */
interface TimedAudio {
  readonly samples: Float32Array;
  readonly text: string;
  readonly words: readonly TimedWord[];
  readonly mouth?: MouthMovement;
  readonly isExact: true;
}

/** A word is looked for this far behind the one before: engines read "10" as "ten", which is not in the text. */
const mostSkipped = 40;
const glyph = /[\p{L}\p{N}]/u;
/** Audio held back until the end is known, so that some is left for the rest of the text. */
const tailMs = 10;

/**
 * Yields the audio of one text, each piece with the words and the shapes that the engine itself places in it. Words that
 * it reads otherwise than they are written share the time between their neighbours; those after the last word that was
 * found come with the last audio. Audio whose sounds are not known yet waits until the next audio has come, and no
 * longer. The texts joined are `text`.
 */
export async function* withToldWords(
  text: string,
  pieces: AsyncIterable<ToldAudio>,
  { sampleRate, times = 'words' }: { readonly sampleRate: number; readonly times?: ToldTimes | undefined },
): AsyncGenerator<TimedAudio> {
  const finder = new WordFinder(text);
  const shapes = times === 'words' ? undefined : new ToldShapes(times);
  const samplesIn = (ms: number): number => Math.round((ms / 1000) * sampleRate);
  let held: Float32Array = new Float32Array(0);
  let atMs = 0;
  const give = (samples: Float32Array, take: (untilMs: number) => FoundText): TimedAudio => {
    const lengthMs = (samples.length / sampleRate) * 1000;
    const untilMs = atMs + lengthMs;
    const found = take(untilMs);
    const within = (ms: number): number => Math.min(Math.max(ms - atMs, 0), lengthMs);
    const spread = wordTimes(found.text, { startMs: found.startMs ?? atMs, endMs: found.endMs ?? untilMs }, found);
    const words = spread.map((word) => ({ ...word, startMs: within(word.startMs), endMs: within(word.endMs) }));
    const mouth = shapes?.between(atMs, untilMs);
    atMs = untilMs;
    return { samples, text: found.text, words, ...(mouth !== undefined && { mouth }), isExact: true };
  };
  for await (const { samples, told = [], sounds = [] } of pieces) {
    finder.take(told);
    shapes?.take(sounds);
    const waited = samples.length > 0 ? held.length : 0;
    const all = concatSamples([held, samples]);
    const known = shapes === undefined ? all.length : samplesIn(Math.max(0, shapes.knownMs - atMs));
    const ready = Math.min(Math.max(known, waited), all.length - samplesIn(tailMs));
    held = ready > 0 ? all.slice(ready) : all;
    if (ready > 0) yield give(all.slice(0, ready), (untilMs) => finder.found(untilMs));
  }
  if (held.length > 0) yield give(held, () => finder.rest());
}

/** A part of the text, with the times of its words as far as they are known. */
interface FoundText {
  readonly text: string;
  readonly startMs?: number;
  readonly endMs?: number;
  readonly marks: readonly { readonly index: number; readonly atMs: number }[];
}

/** A word that was found, with the place of its letters in the text. */
interface FoundWord {
  readonly index: number;
  readonly end: number;
  readonly atMs: number;
  readonly endMs: number;
}

/** Finds the words of an engine in the text, in order. */
class WordFinder {
  readonly #text: string;
  readonly #lower: string;
  #given = 0;
  #end = 0;
  /** Found, and not given yet. */
  #words: FoundWord[] = [];
  #lost = 0;

  constructor(text: string) {
    this.#text = text;
    const lower = text.toLowerCase();
    // A few letters change their length.
    this.#lower = lower.length === text.length ? lower : text;
  }

  take(words: readonly TimedWord[]): void {
    for (const { text, startMs, endMs } of words) {
      const index = this.#find(text.trim().toLowerCase());
      if (index === undefined) continue;
      this.#end = index + text.trim().length;
      this.#words.push({ index, end: this.#end, atMs: startMs, endMs });
      this.#lost = 0;
    }
  }

  /** Returns the text up to the last word that was found and begins before this time. */
  found(untilMs: number): FoundText {
    const count = this.#words.findLastIndex(({ atMs }) => atMs < untilMs) + 1;
    const words = this.#words.splice(0, count);
    const last = words.at(-1);
    if (last === undefined) return { text: '', marks: [] };
    const after = /^[^\p{L}\p{N}]*/u.exec(this.#text.slice(last.end))?.[0].length ?? 0;
    const spaces = last.end + after < this.#text.length ? after : after - (/\s*$/u.exec(this.#text)?.[0].length ?? 0);
    return { ...this.#give(last.end + spaces, words), startMs: words[0]?.atMs ?? 0, endMs: last.endMs };
  }

  rest(): FoundText {
    return this.#give(this.#text.length, this.#words.splice(0));
  }

  #give(end: number, words: readonly FoundWord[]): FoundText {
    const from = this.#given;
    const marks = words.map(({ index, atMs }) => ({ index: index - from, atMs }));
    this.#given = Math.max(from, end);
    return { text: this.#text.slice(from, this.#given), marks };
  }

  /**
   * The next word, or a later one that is whole: "n't" follows "do" in "don't", and "ten" is not in "10 tents". It passes
   * over one written word, and one more for each word of the engine that was not found since.
   */
  #find(word: string): number | undefined {
    if (!glyph.test(word)) return undefined;
    for (let index = this.#lower.indexOf(word, this.#end); index >= 0; index = this.#lower.indexOf(word, index + 1)) {
      const passed = this.#text.slice(this.#end, index).match(/[\p{L}\p{N}]\S*/gu)?.length ?? 0;
      if (index - this.#end > mostSkipped || passed > this.#lost + 1) break;
      if (passed === 0 || this.#isWhole(index, index + word.length)) return index;
    }
    this.#lost += 1;
    return undefined;
  }

  #isWhole(from: number, to: number): boolean {
    return !glyph.test(this.#text.charAt(from - 1)) && !glyph.test(this.#text.charAt(to));
  }
}
