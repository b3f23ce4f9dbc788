import type { Likeness } from './voice-watch.ts';
import type { SessionEvent } from '../session/contract/events.ts';

/** What telemetry may know of a session: nothing of what is said in it. */
export interface SessionFacts {
  readonly session: string;
  readonly character: string;
}

/** Told of everything that clients are told, and keeps none of its content. */
export interface Telemetry {
  note(event: SessionEvent, about: SessionFacts): void;
  /** Told how like itself a character sounded. */
  noteLikeness?(likeness: Likeness): void;
}
