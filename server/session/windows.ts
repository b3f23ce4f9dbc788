import { Rechunker } from '../../voices/audio.ts';
import { Resampler } from '../../voices/resampler.ts';
import type { SessionCommand } from './events.ts';
import type { TurnDetection } from './settings.ts';

/** Resampled sound on its way into windows; most that comes fits in. */
const resampled = new Float32Array(16_384);

/** Cuts the sound that a client sends into the windows that the VAD wants. */
export class Windows {
  readonly #sampleRate: number;
  readonly #windows: Rechunker;
  #resampler: Resampler;
  #inputRate: number;
  #detection: TurnDetection | null;

  /** `turnDetection`: what the session begins with. */
  constructor(sampleRate: number, windowSamples: number, turnDetection: TurnDetection | null) {
    this.#sampleRate = sampleRate;
    this.#windows = new Rechunker(windowSamples);
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
    return this.#windows.push(this.#resampler.push(samples, resampled));
  }

  /** A command follows that is no sound: returns the last window before it, perhaps a short one, where one is due. */
  pass(command: SessionCommand): Float32Array | undefined {
    const before = this.#detection;
    if (command.type === 'update') this.#detection = command.settings.turnDetection;
    const rest = takesSound(command, before) ? this.#windows.flush() : undefined;
    return command.type === 'audio-commit' && rest !== undefined && rest.length > 0 ? rest : undefined;
  }
}

/** Whether no window may hold sound from both before and after a command; `before`: how turns were found until then. */
export function takesSound(command: SessionCommand, before: TurnDetection | null): boolean {
  if (command.type === 'audio-commit' || command.type === 'audio-clear') return true;
  return command.type === 'update' && (before === null) !== (command.settings.turnDetection === null);
}
