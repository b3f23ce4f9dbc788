/** Sample rate of both directions. Nothing is resampled on the way, so every sample arrives unchanged. */
export const sampleRate = 24_000;

/**
 * 16-bit sample values. Each word has one constant level, which identifies it; the levels below are sounds without
 * words.
 */
const firstWord = 3_000;
const lastWord = 32_000;
const coughLevel = 2_000;
/** Level from which the fake VAD detects a voice. */
const voicedLevel = 1_500;

/** A spoken word: its text, its speaker, its level and its duration. */
export interface SpokenWord {
  readonly text: string;
  readonly speaker: string;
  readonly level: number;
  readonly durationMs: number;
}

/** All words spoken in a run, by their level. */
export class Vocabulary {
  readonly #words: SpokenWord[] = [];
  #invented = 0;

  /** Assigns a level to one occurrence of a word. */
  note(text: string, speaker: string, durationMs: number): SpokenWord {
    const level = firstWord + this.#words.length;
    if (level > lastWord) throw new RangeError('this run is too long: it has more words than 16 bits can tell apart');
    const word = { text, speaker, level, durationMs };
    this.#words.push(word);
    return word;
  }

  at(level: number): SpokenWord | undefined {
    return this.#words[level - firstWord];
  }

  /** All words of the selected speakers. */
  wordsOf(isMeant: (speaker: string) => boolean): Set<string> {
    return new Set(this.#words.filter(({ speaker }) => isMeant(speaker)).map(({ text }) => text));
  }

  /** New words, unused in this run, for speech that only has to be identified. */
  invent(count: number): string {
    return Array.from({ length: count }, () => newWord((this.#invented += 1))).join(' ');
  }
}

/** The level of a sound without words. */
export const cough = coughLevel;

/** The level of a sample in [-1, 1]. */
export function levelOf(sample: number): number {
  return Math.round(sample * 32_768);
}

/** Share of a window that is voiced, 0 to 1; sampled at sixteen points. */
export function voicedShare(window: Float32Array): number {
  const stride = window.length / 16;
  let voiced = 0;
  for (let place = stride / 2; place < window.length; place += stride) {
    if (levelOf(window[Math.floor(place)] as number) >= voicedLevel) voiced += 1;
  }
  return voiced / 16;
}

/** Calls back for every run of equal samples. Words are longer than any block, so most blocks are a single run. */
export function readLevels(samples: Float32Array, take: (level: number, samples: number) => void): void {
  let start = 0;
  while (start < samples.length) {
    const value = samples[start] as number;
    let end = samples.length;
    if (samples[end - 1] !== value || samples[(start + end) >> 1] !== value) {
      end = start + 1;
      while (end < samples.length && samples[end] === value) end += 1;
    }
    take(levelOf(value), end - start);
    start = end;
  }
}

/** Decodes words from audio that comes in blocks. */
export class WordReader {
  readonly #vocabulary: Vocabulary;
  /**
   * Words in the order in which they began, with the number of samples of each. A gap inside a word does not make it
   * two.
   */
  readonly heard: { readonly word: SpokenWord; samples: number }[] = [];

  constructor(vocabulary: Vocabulary) {
    this.#vocabulary = vocabulary;
  }

  /** Returns the words that begin in this block, and at which sample of it. */
  push(samples: Float32Array): { readonly word: SpokenWord; readonly offset: number }[] {
    const begun: { readonly word: SpokenWord; readonly offset: number }[] = [];
    let read = 0;
    readLevels(samples, (level, count) => {
      const offset = read;
      read += count;
      const last = this.heard.at(-1);
      const word = this.#vocabulary.at(level);
      if (word === undefined) return;
      if (word === last?.word) last.samples += count;
      else {
        this.heard.push({ word, samples: count });
        begun.push({ word, offset });
      }
    });
    return begun;
  }

  /** The words as text, without those of which less than half arrived. */
  get text(): string {
    const understood = this.heard.filter(({ word, samples }) => (samples * 2000) / sampleRate > word.durationMs);
    return understood.map(({ word }) => word.text).join(' ');
  }
}

const syllables = ['ba', 'de', 'fi', 'go', 'hu', 'ka', 'le', 'mi', 'no', 'pu', 'ra', 'se', 'ti', 'vo', 'wu', 'za'];

/** `deba`, `dede`, …: two syllables or more. */
function newWord(number: number): string {
  let text = '';
  for (let rest = number + syllables.length; rest > 0; rest = Math.floor(rest / syllables.length)) {
    text = (syllables[rest % syllables.length] ?? '') + text;
  }
  return text;
}
