/** Both directions, all the way: no piece is resampled, so that what arrives is to the sample what was sent. */
export const sampleRate = 24_000;

/** Sample values, 16 bit. A word sounds as one level, from which it is known again; below the words are sounds without words. */
const firstWord = 3_000;
const lastWord = 32_000;
const coughLevel = 2_000;
/** From here on the fake VAD hears a voice. */
const voicedLevel = 1_500;

/** A word that somebody says: who, what, the level that it sounds at, and how long. */
export interface SpokenWord {
  readonly text: string;
  readonly speaker: string;
  readonly level: number;
  readonly durationMs: number;
}

/** All words that were ever said in one run, by the level they sound at. */
export class Vocabulary {
  readonly #words: SpokenWord[] = [];
  #invented = 0;

  /** Gives one occurrence of a word its level. */
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

  /** All words of some speakers. */
  wordsOf(isMeant: (speaker: string) => boolean): Set<string> {
    return new Set(this.#words.filter(({ speaker }) => isMeant(speaker)).map(({ text }) => text));
  }

  /** Words that nobody has said before, for speech that only has to be told apart. */
  invent(count: number): string {
    return Array.from({ length: count }, () => newWord((this.#invented += 1))).join(' ');
  }
}

/** The level of a sound in which no word is. */
export const cough = coughLevel;

/** The level of one sample in [-1, 1]. */
export function levelOf(sample: number): number {
  return Math.round(sample * 32_768);
}

/** How much of a window is voiced, 0 to 1; looked at in sixteen places. */
export function voicedShare(window: Float32Array): number {
  const stride = window.length / 16;
  let voiced = 0;
  for (let place = stride / 2; place < window.length; place += stride) {
    if (levelOf(window[Math.floor(place)] as number) >= voicedLevel) voiced += 1;
  }
  return voiced / 16;
}

/** Calls back for every stretch of one level in `samples`. Words are longer than any block, so most blocks are one stretch. */
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

/** Reads words out of sound that comes in blocks. */
export class WordReader {
  readonly #vocabulary: Vocabulary;
  /** Words in the order they began, and how many samples of each came. A gap inside a word does not make it two. */
  readonly heard: { readonly word: SpokenWord; samples: number }[] = [];

  constructor(vocabulary: Vocabulary) {
    this.#vocabulary = vocabulary;
  }

  /** Returns the words that begin in this block. */
  push(samples: Float32Array): SpokenWord[] {
    const begun: SpokenWord[] = [];
    readLevels(samples, (level, count) => {
      const last = this.heard.at(-1);
      const word = this.#vocabulary.at(level);
      if (word === undefined) return;
      if (word === last?.word) last.samples += count;
      else {
        this.heard.push({ word, samples: count });
        begun.push(word);
      }
    });
    return begun;
  }

  /** The words as text; one of which less than half came is not understood. */
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
