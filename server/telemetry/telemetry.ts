import type { VoiceSimilarity } from './voice-watch.ts';
import type { SessionEvent } from '../session/contract/events.ts';

/** Session facts that telemetry may use: nothing that is said in it. */
export interface SessionFacts {
  readonly session: string;
  readonly character: string;
}

/** Sink for everything sent to clients; keeps none of its content. */
export interface Telemetry {
  note(event: SessionEvent, about: SessionFacts): void;
  /** Records a reply's voice similarity. */
  noteVoiceSimilarity?(similarity: VoiceSimilarity): void;
}
