import type { AudioFrame } from './audio.ts';
import type { CallOptions } from './engine.ts';

/** Information for a turn detector besides the audio. */
export interface TurnOptions extends CallOptions {
  /** The transcript so far, with final punctuation as the recognizer gave it. */
  readonly text?: string;
  /** BCP 47 tag of the spoken language; detected from the text if absent. */
  readonly language?: string;
  /** The line of the character that the turn answers: after a question, a short answer is complete. */
  readonly before?: string;
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

/** Wait for a user who may have finished. */
export interface EndpointingTimeouts {
  /** Silence that ends a turn that seems complete. */
  readonly leastMs: number;
  /** Silence that ends any turn; only words that hang get all of it. */
  readonly mostMs: number;
  /** The cost of a cut-in: as bad as so many milliseconds of waiting. */
  readonly cutInCostMs: number;
}

/** The machine asks for the first time after this silence: a probability is about pauses that last at least so long. */
const askedAfterMs = 96;

const stepMs = 20;

/** Words that hang, such as "and then I": below this probability. Only they get the longest wait, others this share of it. */
const hanging = { below: 0.025, otherShare: 0.5 };

/**
 * Silence in milliseconds that ends a turn: the wait with the least expected cost. Waiting costs its length if the turn
 * is over, which it is with the probability `completeness`; otherwise answering after `waitMs` costs `cutInCostMs` if
 * the pause is longer. Silence so far is evidence by itself: few pauses inside a turn last long, so the
 * probability rises while nothing is said, and asking again later with what is known then gives the same end.
 */
export function endpointingTimeoutMs(
  completeness: number,
  { leastMs, mostMs, cutInCostMs }: EndpointingTimeouts,
): number {
  const goesOn = ((1 - completeness) * cutInCostMs) / longerPauses(askedAfterMs);
  const longestMs = completeness < hanging.below ? mostMs : Math.round(mostMs * hanging.otherShare);
  let [bestMs, least] = [longestMs, completeness * longestMs + goesOn * longerPauses(longestMs)];
  for (let waitMs = leastMs; waitMs < longestMs; waitMs += stepMs) {
    const cost = completeness * waitMs + goesOn * longerPauses(waitMs);
    if (cost < least) [bestMs, least] = [waitMs, cost];
  }
  return Math.max(leastMs, bestMs);
}

/**
 * Distribution of pauses inside a turn: log-logistic, with a median of 450 ms (of 13 in the recordings of the bench)
 * and 95 % below 1.4 s (two-channel telephone speech, livekit/agents #3640).
 */
const pauses = { medianMs: 450, steepness: Math.log(19) / Math.log(1_400 / 450) };

/** Share of the pauses inside a turn that are longer than `silentMs`. */
export function longerPauses(silentMs: number): number {
  return 1 / (1 + (silentMs / pauses.medianMs) ** pauses.steepness);
}
