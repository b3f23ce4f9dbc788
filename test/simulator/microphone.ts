import type { Scheduler } from './scheduler.ts';
import { cough, sampleRate, type SpokenWord, type Vocabulary } from './speech.ts';

/** A sound made by a person, in virtual time. */
export interface Utterance {
  readonly level: number;
  readonly startMs: number;
  readonly endMs: number;
  /** Absent for a cough. */
  readonly word?: SpokenWord;
}

const perMs = sampleRate / 1000;

/** A person's speech, and the microphone that records it. */
export class Microphone {
  /** Everything said so far, in order. */
  readonly said: Utterance[] = [];
  readonly #scheduler: Scheduler;
  readonly #vocabulary: Vocabulary;
  readonly #person: string;
  /** Sounds before this index are over. */
  #first = 0;

  constructor(scheduler: Scheduler, vocabulary: Vocabulary, person: string) {
    this.#scheduler = scheduler;
    this.#vocabulary = vocabulary;
    this.#person = person;
  }

  /** Time at which everything being said will be over. */
  get endMs(): number {
    return Math.max(this.#scheduler.now(), this.said.at(-1)?.endMs ?? 0);
  }

  get isSpeaking(): boolean {
    return (this.said.at(-1)?.endMs ?? 0) > this.#scheduler.now();
  }

  /** Says words from now on, one after the other. */
  say(text: string, wordMs: number): void {
    for (const token of text.split(/\s+/u)) {
      const word = this.#vocabulary.note(token, this.#person, wordMs);
      this.#make({ level: word.level, word }, wordMs);
    }
  }

  /** Makes a sound that is not a word. */
  cough(ms: number): void {
    this.#make({ level: cough }, ms);
  }

  /** Records from `fromMs` to `toMs`: 16-bit PCM; undefined if it was silent. */
  record(fromMs: number, toMs: number): Uint8Array<ArrayBuffer> | undefined {
    while ((this.said[this.#first]?.endMs ?? Infinity) <= fromMs) this.#first += 1;
    if ((this.said[this.#first]?.startMs ?? Infinity) >= toMs) return undefined;
    const samples = new Int16Array((toMs - fromMs) * perMs);
    for (let index = this.#first; index < this.said.length; index += 1) {
      const { level, startMs, endMs } = this.said[index] as Utterance;
      if (startMs >= toMs) break;
      samples.fill(level, Math.max(0, Math.round((startMs - fromMs) * perMs)), Math.round((endMs - fromMs) * perMs));
    }
    return new Uint8Array(samples.buffer);
  }

  #make(sound: Pick<Utterance, 'level' | 'word'>, ms: number): void {
    const startMs = this.endMs;
    this.said.push({ ...sound, startMs, endMs: startMs + ms });
  }
}
