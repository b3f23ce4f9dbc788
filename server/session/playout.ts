import { durationMs } from '../../voices/audio.ts';
import type { SpeechChunk, TimedWord } from '../../voices/synthesizer.ts';
import type { Clock } from './clock.ts';

/** A piece of speech ready to be sent: at most `sliceMs` long, with the words that begin in it. */
export interface SpeechSlice {
  readonly samples: Float32Array;
  readonly sampleRate: number;
  readonly text: string;
  /** Times from the start of the reply; joined, their texts are `text`. */
  readonly words: readonly TimedWord[];
}

interface PlayoutSettings {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** How far ahead of real time speech may be sent: the most that goes on sounding after a stop. */
  readonly aheadMs: number;
}

/** 60 ms keeps a base64 frame of 24 kHz audio well under 64 KiB, the smallest receive buffer among clients (Godot). */
const sliceMs = 60;

/**
 * Paces a reply: cuts its speech into slices and sends each when it is due, so that stopping means stopping. Keeps the
 * one place that knows how much of the reply can have been heard.
 */
export class Playout {
  readonly #settings: PlayoutSettings;
  #startedMs: number | undefined;
  #sentMs = 0;
  /** What the client last said it had played, and when it said so. */
  #reported: { readonly heardMs: number; readonly atMs: number } | undefined;

  constructor(settings: PlayoutSettings) {
    this.#settings = settings;
  }

  /** Milliseconds of speech handed out so far. */
  get sentMs(): number {
    return this.#sentMs;
  }

  /** The client has played this much by now. */
  report(heardMs: number): void {
    this.#reported = { heardMs, atMs: this.#settings.clock.now() };
  }

  /** Milliseconds heard by now: counted from the client's last word where it gives any, else as if it played at once. */
  get heardMs(): number {
    if (this.#reported !== undefined) {
      const { heardMs, atMs } = this.#reported;
      return Math.min(this.#sentMs, heardMs + this.#settings.clock.now() - atMs);
    }
    return this.#startedMs === undefined ? 0 : Math.min(this.#sentMs, this.#settings.clock.now() - this.#startedMs);
  }

  /** Slices of one chunk, each when it is due. */
  async *pace(chunk: SpeechChunk): AsyncIterable<SpeechSlice> {
    const { samples, sampleRate } = chunk.frame;
    const pieces = textPieces(chunk, this.#sentMs);
    const sliceSamples = Math.round((sliceMs / 1000) * sampleRate);
    let told = 0;
    for (let offset = 0; offset < samples.length; offset += sliceSamples) {
      await this.#due();
      const slice = samples.subarray(offset, offset + sliceSamples);
      const last = offset + sliceSamples >= samples.length;
      this.#sentMs += (slice.length / sampleRate) * 1000;
      const due = last ? pieces.length : pieces.findIndex((piece) => piece.startMs >= this.#sentMs);
      const words = pieces.slice(told, due < 0 ? pieces.length : due);
      told += words.length;
      yield { samples: slice, sampleRate, text: words.map((word) => word.text).join(''), words };
    }
  }

  async #due(): Promise<void> {
    const { clock, signal, aheadMs } = this.#settings;
    signal.throwIfAborted();
    // A reply that fell behind (a slow engine) starts a new count: silence already heard is not made up for.
    const playedMs = this.#startedMs === undefined ? 0 : clock.now() - this.#startedMs;
    if (this.#startedMs === undefined || playedMs > this.#sentMs) this.#startedMs = clock.now() - this.#sentMs;
    const waitMs = this.#sentMs + sliceMs - aheadMs - (clock.now() - this.#startedMs);
    if (waitMs > 0) await clock.sleep(waitMs, signal);
  }
}

/** Cuts the chunk's text at its words, spaces staying with the word before, so that the pieces joined give the text. */
function textPieces(chunk: SpeechChunk, offsetMs: number): TimedWord[] {
  const words = chunk.words ?? [{ text: chunk.text, startMs: 0, endMs: durationMs(chunk.frame) }];
  const starts: number[] = [];
  let cursor = 0;
  for (const word of words) {
    const at = chunk.text.indexOf(word.text.trim(), cursor);
    starts.push(at < 0 ? cursor : at);
    cursor = at < 0 ? cursor : at + word.text.trim().length;
  }
  return words.map((word, index) => ({
    text: chunk.text.slice(index === 0 ? 0 : starts[index], starts[index + 1] ?? chunk.text.length),
    startMs: offsetMs + word.startMs,
    endMs: offsetMs + word.endMs,
  }));
}
