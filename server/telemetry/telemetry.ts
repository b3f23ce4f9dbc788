import type { VoiceSimilarity } from './voice-watch.ts';
import type { SessionEvent } from '../session/contract/events.ts';

/** Session facts that telemetry may use: nothing that is said in it. */
export interface SessionFacts {
  readonly session: string;
  readonly character: string;
}

/** A client that returned to its session: it was open here, restored from a journal, or could not continue. */
export interface Resumed {
  readonly how: 'here' | 'restored' | 'refused';
  /** Time since its request arrived. */
  readonly seconds: number;
}

/** Reason for which a session ended on this server. */
export type SessionEnding = 'ended' | 'moved' | 'server_stopping' | 'session_expired' | 'client_too_slow';

/** Sink for everything sent to clients; keeps none of its content. */
export interface Telemetry {
  note(event: SessionEvent, about: SessionFacts): void;
  /** Records a reply's voice similarity. */
  noteVoiceSimilarity?(similarity: VoiceSimilarity): void;
  noteResume?(resumed: Resumed): void;
  noteEnd?(reason: SessionEnding): void;
}
