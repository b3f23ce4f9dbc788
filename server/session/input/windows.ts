import { Resampler } from '../../../voices/dsp/resampler.ts';
import type { SessionCommand } from '../contract/events.ts';
import type { TurnDetection } from '../contract/settings.ts';

/** Resampled sound on its way into windows; most that comes fits in. */
const resampled = new Float32Array(16_384);

/** Most windows that wait to be filled again: more are under way only where much sound comes at once. */
const mostFree = 8;

/** Cuts the sound that a client sends into the windows that the VAD wants. */
export class Windows {
  readonly #sampleRate: number;
  readonly #windowSamples: number;
  readonly #free: Float32Array[] = [];
  /** The window that is being filled, and how far it is. */
  #window: Float32Array;
  #filled = 0;
  #resampler: Resampler;
  #inputRate: number;
  #detection: TurnDetection | null;

  /** `turnDetection`: what the session begins with. */
  constructor(sampleRate: number, windowSamples: number, turnDetection: TurnDetection | null) {
    this.#sampleRate = sampleRate;
    this.#windowSamples = windowSamples;
    this.#window = new Float32Array(windowSamples);
    this.#inputRate = sampleRate;
    this.#resampler = new Resampler(sampleRate, sampleRate);
    this.#detection = turnDetection;
  }

  /** Takes sound, which may be overwritten afterwards; returns the windows it completes. */
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

  /** Nobody reads this window any more. A buffer for each of 31 a second is what keeps the garbage collector busy. */
  recycle(window: Float32Array): void {
    if (window.length === this.#windowSamples && this.#free.length < mostFree) this.#free.push(window);
  }

  /** A command follows that is no sound: returns the last window before it, perhaps a short one, where one is due. */
  pass(command: SessionCommand): Float32Array | undefined {
    const before = this.#detection;
    if (command.type === 'update') this.#detection = command.settings.turnDetection;
    if (!takesSound(command, before)) return undefined;
    const rest = this.#window.slice(0, this.#filled);
    this.#filled = 0;
    return command.type === 'audio-commit' && rest.length > 0 ? rest : undefined;
  }
}

/** Whether no window may hold sound from both before and after a command; `before`: how turns were found until then. */
export function takesSound(command: SessionCommand, before: TurnDetection | null): boolean {
  if (command.type === 'audio-commit' || command.type === 'audio-clear') return true;
  return command.type === 'update' && (before === null) !== (command.settings.turnDetection === null);
}
