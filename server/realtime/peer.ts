import type { Problem } from '../session/contract/events.ts';
import type { ServerEvent } from '../protocol/server-events.ts';
import type { OutgoingAudio } from './encode.ts';

/** The other end of a connection, on any transport. */
export interface Peer {
  /** Sends one server event. Returns false if the client stopped reading and must be disconnected. */
  send(event: ServerEvent): boolean;
  /** If given, takes the audio of replies instead of `response.output_audio.delta`. */
  sendAudio?(audio: OutgoingAudio): boolean;
  /** If given, is awaited before the first event of a reply. */
  beforeReply?(replyId: string): Promise<void>;
  /** Asks for a sign of life, which arrives after all that the client has sent; absent if nothing can be stuck. */
  probe?(answered: () => void): void;
  /** If given, the client numbers its messages, and this is called with the last one that need not be sent again. */
  readonly kept?: ((sequence: number) => void) | undefined;
  /** Takes every message that came as text, unchecked. Returns false if the session is not to take it. */
  admits?(message: unknown): boolean;
}

/** Capabilities of a client beyond the events of OpenAI Realtime (GA). */
export interface Client {
  /** It gets an event when a reply is held, and then falls silent. */
  readonly holds?: boolean;
  /** It plays backchannels by the character while its user speaks. */
  readonly nods?: boolean;
  /** It is warned before the session reaches its time limit. */
  readonly notice?: boolean;
  /** It gets the voice similarity of the character's replies. */
  readonly voice?: boolean;
  /** It gets events about changes of the characters' relations to the user. */
  readonly relations?: boolean;
  /** It gets an event when a scene enters a section. */
  readonly sections?: boolean;
  readonly cues?: CuesTold;
  /** It gets the mouth shapes, or also the phones in IPA; neither by default. */
  readonly mouth?: 'visemes' | 'phones' | undefined;
  /** It speaks the dialect from before GA, see `beta.ts`. */
  readonly beta?: boolean;
}

/** Stage directions that a client gets: none, actions, or thoughts as well; none by default. */
export type CuesTold = 'none' | 'visible' | 'all';

/** Rate limit on what a client sends. */
export interface InputRateLimit {
  takeEvent(): RateLimitVerdict;
  /** Charges an event that is not audio, by its size. */
  takeText(bytes: number): RateLimitVerdict;
  takeAudio(ms: number): RateLimitVerdict;
}

/** Verdict of the rate limit: take it, drop it, or drop it and report the error to the client. */
export type RateLimitVerdict = 'take' | 'drop' | Problem;
