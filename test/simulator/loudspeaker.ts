import type { SpeakerListener, TalkSpeaker } from '../../server/client/types/api.d.ts';
import { PlaybackQueue } from '../../server/client/audio/playback-queue.js';
import type { Scheduler } from './scheduler.ts';
import { sampleRate, WordReader, type SpokenWord, type Vocabulary } from './speech.ts';

const blockMs = 20;
const blockSamples = (sampleRate * blockMs) / 1000;
/** Block length of the real audio output; a flush fades out over one block. */
const fadeSamples = 128;

/** A word that was played. */
export interface HeardWord {
  readonly word: SpokenWord;
  /** Start of the block in which it begins, by the count of what was played. */
  readonly atMs: number;
  /** Time of its first sample, if the position of a block is reported when the block has been played. */
  readonly soundsMs: number;
}

/** A loudspeaker with the real playback queue, in virtual time, and the person listening to it. */
export class Loudspeaker implements TalkSpeaker {
  readonly isRunning = true;
  /** Words that the person has heard, in order. */
  readonly heard: HeardWord[] = [];
  /** Words of each item as received, heard or not. */
  readonly received = new Map<string, WordReader>();
  /** Time at which audio of each word was last heard. */
  readonly lastHeardMs = new Map<SpokenWord, number>();
  readonly #scheduler: Scheduler;
  readonly #vocabulary: Vocabulary;
  readonly #listener: SpeakerListener;
  readonly #open = new Set<string>();
  readonly #ear: WordReader;
  #queue = new PlaybackQueue();
  #renderedMs: number;
  #isTicking = false;

  constructor(scheduler: Scheduler, vocabulary: Vocabulary, listener: SpeakerListener) {
    this.#scheduler = scheduler;
    this.#vocabulary = vocabulary;
    this.#listener = listener;
    this.#ear = new WordReader(vocabulary);
    this.#renderedMs = scheduler.now();
  }

  get isPlaying(): boolean {
    return this.#open.size > 0;
  }

  /** Words of an item that were played, in order. */
  heardOf(itemId: string): string[] {
    const words = new Set(this.received.get(itemId)?.heard.map(({ word }) => word));
    return this.heard.filter(({ word }) => words.has(word)).map(({ word }) => word.text);
  }

  play(itemId: string, samples: Float32Array<ArrayBuffer>, sentLateMs: number): void {
    const reader = this.received.get(itemId) ?? new WordReader(this.#vocabulary);
    this.received.set(itemId, reader);
    reader.push(samples);
    this.#catchUp();
    this.#open.add(itemId);
    this.#queue.push(itemId, samples, (sentLateMs * sampleRate) / 1000);
    this.#tick();
  }

  complete(itemId: string): void {
    if (this.#open.has(itemId)) this.#queue.complete(itemId);
  }

  async flush(): Promise<ReadonlyMap<string, number>> {
    this.#catchUp();
    this.#open.clear();
    const played = this.#queue.flush(new Float32Array(fadeSamples));
    this.#queue = new PlaybackQueue(this.#queue);
    return new Map(Array.from(played, ([itemId, samples]) => [itemId, (samples * 1000) / sampleRate]));
  }

  close(): void {
    this.#open.clear();
  }

  #tick(): void {
    if (this.#isTicking || this.#open.size === 0) return;
    this.#isTicking = true;
    this.#scheduler.after(blockMs, () => {
      this.#isTicking = false;
      if (this.#open.size > 0) this.#render();
      this.#tick();
    });
  }

  #render(): void {
    const fromMs = this.#renderedMs;
    this.#renderedMs += blockMs;
    const startMs = this.#scheduler.now() - blockMs;
    const block = new Float32Array(blockSamples);
    const { item, onsets, ended } = this.#queue.render(block);
    for (const { word, offset } of this.#ear.push(block))
      this.heard.push({ word, atMs: fromMs, soundsMs: startMs + (offset * 1000) / sampleRate });
    const last = this.#ear.heard.at(-1);
    if (last !== undefined && item !== undefined) this.lastHeardMs.set(last.word, this.#renderedMs);
    for (const { itemId } of onsets) this.#listener.onOnset(itemId, fromMs);
    if (item !== undefined) this.#listener.onProgress(item.itemId, (item.played * 1000) / sampleRate, 0.5);
    for (const itemId of ended) {
      this.#open.delete(itemId);
      this.#listener.onEnded(itemId);
    }
  }

  /** A silent loudspeaker does not tick; its clock is corrected when audio arrives. */
  #catchUp(): void {
    if (this.#isTicking) return;
    const missing = Math.floor((this.#scheduler.now() - this.#renderedMs) / blockMs);
    for (let left = missing; left > 0; left -= silence.length / blockSamples) {
      this.#queue.render(silence.subarray(0, Math.min(left * blockSamples, silence.length)));
    }
    this.#renderedMs += missing * blockMs;
  }
}

const silence = new Float32Array(sampleRate);
