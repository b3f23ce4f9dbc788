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
  /** If given, is told the last message of the client that need not be sent again, and the client numbers them. */
  readonly kept?: ((sequence: number) => void) | undefined;
  /** Takes every message that came as text, unchecked. Returns false if the session is not to take it. */
  admits?(message: unknown): boolean;
}

/** What a client understands beyond the events of OpenAI Realtime (GA). */
export interface Client {
  /** It wants to be told when a reply is held, and falls silent then. */
  readonly holds?: boolean;
  /** It plays backchannels by the character while its user speaks. */
  readonly nods?: boolean;
  /** It is warned before the session reaches its time limit. */
  readonly notice?: boolean;
  /** It is told the voice similarity of the character's replies. */
  readonly voice?: boolean;
  /** It is told how the relations of characters to the user change. */
  readonly relations?: boolean;
  readonly cues?: CuesTold;
  /** It is told the mouth shapes, or its sounds in IPA as well; nothing by default. */
  readonly mouth?: 'visemes' | 'phones' | undefined;
  /** It speaks the dialect from before GA, see `beta.ts`. */
  readonly beta?: boolean;
}

/** Stage directions that a client is told of: none, actions, or thoughts as well; none by default. */
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
