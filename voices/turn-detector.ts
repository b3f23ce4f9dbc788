import type { AudioFrame } from './audio.ts';
import type { CallOptions } from './engine.ts';

/** Information for a turn detector besides the audio. */
export interface TurnOptions extends CallOptions {
  /** The transcript so far, with final punctuation as the recognizer gave it. */
  readonly text?: string;
  /** BCP 47 tag of the spoken language; detected from the text if absent. */
  readonly language?: string;
}

/** Distinguishes a user who has finished from one who pauses for breath or thought. */
export interface TurnDetector {
  readonly name: string;
  /**
   * End-of-turn probability in [0, 1]. `turn` is all audio of the user's turn from its start until now, including the
   * current silence, at any sample rate; detectors look at its end. Call it again in every pause. Throws an
   * `EngineError`, or `signal.reason` when aborted.
   */
  endOfTurnProbability(turn: AudioFrame, options: TurnOptions): Promise<number>;
}

/** Bounds of the endpointing timeout, see `patienceMs`. */
export interface EndpointingTimeouts {
  /** Silence that ends a turn that seems complete. */
  readonly leastMs: number;
  /** Silence that ends any turn. */
  readonly mostMs: number;
  /** End-of-turn probability from which `leastMs` applies; above 0. */
  readonly threshold: number;
}

/**
 * Silence in milliseconds that ends a turn with this end-of-turn probability: `leastMs` from the threshold on, linearly
 * more below it.
 */
export function endpointingTimeoutMs(
  completeness: number,
  { leastMs, mostMs, threshold }: EndpointingTimeouts,
): number {
  const lacking = Math.min(1, Math.max(0, (threshold - completeness) / threshold));
  return leastMs + (mostMs - leastMs) * lacking;
}
