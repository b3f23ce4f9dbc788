import type { SpeakerListener, TalkSpeaker } from '../../server/client/types/api.d.ts';
import { WIRE_RATE } from '../../server/client/audio/pcm.js';
import { PlaybackQueue } from '../../server/client/audio/playback-queue.js';

const blockSamples = 128;

/**
 * A loudspeaker with the real playback queue, whose time is advanced by the test. `played` is the audio played so far.
 */
export class SimulatedSpeaker implements TalkSpeaker {
  readonly played: Float32Array[] = [];
  readonly isRunning = true;
  readonly #listener: SpeakerListener;
  readonly #open = new Set<string>();
  #queue = new PlaybackQueue();

  constructor(listener: SpeakerListener) {
    this.#listener = listener;
  }

  get isPlaying(): boolean {
    return this.#open.size > 0;
  }

  play(itemId: string, samples: Float32Array, sentLateMs: number): void {
    this.#open.add(itemId);
    this.#queue.push(itemId, samples, (sentLateMs * WIRE_RATE) / 1000);
  }

  complete(itemId: string): void {
    if (this.#open.has(itemId)) this.#queue.complete(itemId);
  }

  async flush(): Promise<ReadonlyMap<string, number>> {
    this.#open.clear();
    const played = this.#queue.flush(new Float32Array(blockSamples));
    this.#queue = new PlaybackQueue(this.#queue);
    return new Map(Array.from(played, ([itemId, samples]) => [itemId, (samples * 1000) / WIRE_RATE]));
  }

  close(): void {
    this.#open.clear();
  }

  /** Plays for this long. */
  advance(ms: number): void {
    for (let left = (ms * WIRE_RATE) / 1000; left > 0; left -= blockSamples) {
      const block = new Float32Array(blockSamples);
      const { item, ended } = this.#queue.render(block);
      this.played.push(block);
      if (item !== undefined) this.#listener.onProgress(item.itemId, (item.played * 1000) / WIRE_RATE, 0.5);
      for (const itemId of ended) {
        this.#open.delete(itemId);
        this.#listener.onEnded(itemId);
      }
    }
  }
}
