import { Resampler } from '../../../voices/dsp/resampler.ts';
import type { SessionCommand } from '../contract/events.ts';
import type { TurnDetection } from '../contract/settings.ts';

/** Scratch buffer for resampled audio; most input fits in. */
const resampled = new Float32Array(16_384);

/** Most free windows kept for reuse: more are in use only if much audio comes at once. */
const mostFree = 8;

/** Cuts the client's audio into the windows that the VAD needs. */
export class Windows {
  readonly #sampleRate: number;
  readonly #windowSamples: number;
  readonly #free: Float32Array[] = [];
  /** The window being filled, and its fill level. */
  #window: Float32Array;
  #filled = 0;
  #resampler: Resampler;
  #inputRate: number;
  #detection: TurnDetection | null;

  /** `turnDetection`: the setting at the start of the session. */
  constructor(sampleRate: number, windowSamples: number, turnDetection: TurnDetection | null) {
    this.#sampleRate = sampleRate;
    this.#windowSamples = windowSamples;
    this.#window = new Float32Array(windowSamples);
    this.#inputRate = sampleRate;
    this.#resampler = new Resampler(sampleRate, sampleRate);
    this.#detection = turnDetection;
  }

  /** Takes audio, which may be overwritten afterwards; returns the windows it completes. */
  push(samples: Float32Array, sampleRate: number): Float32Array[] {
    if (sampleRate !== this.#inputRate) {
      this.#inputRate = sampleRate;
      this.#resampler = new Resampler(sampleRate, this.#sampleRate);
    }
    const sound = this.#resampler.push(samples, resampled);
    const windows: Float32Array[] = [];
    for (let offset = 0; offset < sound.length;) {
      const end = Math.min(sound.length, offset + this.#windowSamples - this.#filled);
      this.#window.set(sound.subarray(offset, end), this.#filled);
      this.#filled += end - offset;
      offset = end;
      if (this.#filled < this.#windowSamples) break;
      windows.push(this.#window);
      this.#window = this.#free.pop() ?? new Float32Array(this.#windowSamples);
      this.#filled = 0;
    }
    return windows;
  }

  /**
   * Takes back a window that is no longer read. Allocating 31 buffers a second would keep the garbage collector busy.
   */
  recycle(window: Float32Array): void {
    if (window.length === this.#windowSamples && this.#free.length < mostFree) this.#free.push(window);
  }

  /** Notes a command other than audio: returns the last window before it, perhaps a short one, if one is due. */
  pass(command: SessionCommand): Float32Array | undefined {
    const before = this.#detection;
    if (command.type === 'update') this.#detection = command.settings.turnDetection;
    if (!takesSound(command, before)) return undefined;
    const rest = this.#window.slice(0, this.#filled);
    this.#filled = 0;
    return command.type === 'audio-commit' && rest.length > 0 ? rest : undefined;
  }
}

/**
 * Returns true if no window may contain audio from both before and after a command; `before`: the turn detection until
 * then.
 */
export function takesSound(command: SessionCommand, before: TurnDetection | null): boolean {
  if (command.type === 'audio-commit' || command.type === 'audio-clear') return true;
  return command.type === 'update' && (before === null) !== (command.settings.turnDetection === null);
}
