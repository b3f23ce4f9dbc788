import type { SpeakerListener, TalkSpeaker } from '../../client/types/api.d.ts';
import { toPcm16, WIRE_RATE } from '../../client/audio/pcm.js';
import { PlaybackQueue } from '../../client/audio/playback-queue.js';

/** Plays raw 16-bit mono PCM at the wire's sample rate; `flush` drops what has not been played. */
export interface PcmSink {
  write(pcm16: Uint8Array): void;
  flush(): void;
}

const samplesPerMs = WIRE_RATE / 1000;
const blockSamples = 20 * samplesPerMs;
const tickMs = 20;
/** Lead over real time when feeding the program, so that a late tick leaves no gap. */
const leadMs = 80;
/** Beyond this the program has run dry; skipped time is not caught up, because playback would lag from then on. */
const mostLateMs = 200;

/** Speaker backed by an external program, fed in real time so that the playback position is known. */
export class TerminalSpeaker implements TalkSpeaker {
  readonly isRunning = true;
  readonly #pipe: PcmSink;
  readonly #listener: SpeakerListener;
  readonly #now: () => number;
  readonly #open = new Set<string>();
  #queue = new PlaybackQueue();
  #timer: NodeJS.Timeout | undefined;
  #startedMs = 0;
  #fedMs = 0;

  /** `now` is monotonic, in milliseconds. */
  constructor(pipe: PcmSink, listener: SpeakerListener, now: () => number = () => performance.now()) {
    this.#pipe = pipe;
    this.#listener = listener;
    this.#now = now;
  }

  get isPlaying(): boolean {
    return this.#open.size > 0;
  }

  play(itemId: string, samples: Float32Array, sentLateMs: number): void {
    this.#open.add(itemId);
    this.#queue.push(itemId, samples, sentLateMs * samplesPerMs);
    if (this.#timer !== undefined) return;
    this.#startedMs = this.#now();
    this.#fedMs = 0;
    this.#timer = setInterval(() => this.#feed(), tickMs);
    this.#feed();
  }

  complete(itemId: string): void {
    if (this.#open.has(itemId)) this.#queue.complete(itemId);
  }

  async flush(): Promise<ReadonlyMap<string, number>> {
    this.#stop();
    const played = this.#queue.flush(new Float32Array(0));
    this.#queue = new PlaybackQueue(this.#queue);
    return new Map(Array.from(played, ([itemId, samples]) => [itemId, soundedMs(samples)]));
  }

  close(): void {
    this.#stop();
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#open.clear();
    this.#pipe.flush();
  }

  #feed(): void {
    const elapsedMs = this.#now() - this.#startedMs;
    if (elapsedMs - this.#fedMs > mostLateMs) this.#startedMs += elapsedMs - this.#fedMs;
    while (this.#fedMs < this.#now() - this.#startedMs + leadMs) {
      const block = new Float32Array(blockSamples);
      const { item, onsets, ended } = this.#queue.render(block);
      this.#fedMs += blockSamples / samplesPerMs;
      this.#pipe.write(new Uint8Array(toPcm16(block)));
      for (const { itemId } of onsets) this.#listener.onOnset(itemId, this.#now() + leadMs);
      if (item !== undefined) this.#listener.onProgress(item.itemId, soundedMs(item.played), levelOf(block));
      for (const itemId of ended) {
        this.#open.delete(itemId);
        this.#listener.onEnded(itemId);
      }
      if (this.#open.size > 0) continue;
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
  }
}

/** Subtracts the feed lead to get the audio actually played. */
function soundedMs(fedSamples: number): number {
  return Math.max(0, fedSamples / samplesPerMs - leadMs);
}

function levelOf(block: Float32Array): number {
  return Math.sqrt(block.reduce((sum, sample) => sum + sample * sample, 0) / block.length);
}
