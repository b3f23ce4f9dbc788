import type { AudioFrame } from './audio.ts';
import type { CallOptions } from './engine.ts';

/** What a detector may know beside the sound. */
export interface TurnOptions extends CallOptions {
  /** The transcript so far, final punctuation as the recognizer gave it. */
  readonly text?: string;
  /** BCP 47 tag of what is spoken; found out from the text unless given. */
  readonly language?: string;
}

/** Tells a user who has finished from one who pauses for breath or thought. */
export interface TurnDetector {
  readonly name: string;
  /**
   * Probability in [0, 1] that the speaker has finished. `turn` is all they have said since they took the floor, from its
   * beginning to now, the silence that began included, at any sample rate; detectors look at its end. To be asked anew in
   * every pause. Throws an `EngineError`, or `signal.reason` when aborted.
   */
  completeness(turn: AudioFrame, options: TurnOptions): Promise<number>;
}

/** How long to wait for more, see `patienceMs`. */
export interface Patience {
  /** Silence after which a turn that seems complete is over. */
  readonly leastMs: number;
  /** Silence after which any turn is over. */
  readonly mostMs: number;
  /** Completeness from which the least wait suffices, above 0. */
  readonly threshold: number;
}

/** Silence in milliseconds that ends a turn of this completeness: the least from the threshold on, below it linearly more. */
export function patienceMs(completeness: number, { leastMs, mostMs, threshold }: Patience): number {
  const lacking = Math.min(1, Math.max(0, (threshold - completeness) / threshold));
  return leastMs + (mostMs - leastMs) * lacking;
}
