import type { Message } from '../../../agents/chat.ts';
import type { CallOptions } from '../../../voices/engine.ts';
import type { TranscriptPart } from '../../../voices/recognizer.ts';
import type { TurnDetector } from '../../../voices/turn-detector.ts';
import type { SpeakerEncoder } from '../../../voices/speaker-encoder.ts';
import type { Vad } from '../../../voices/vad.ts';
import type { Clock } from './clock.ts';
import type { Company, Players } from '../history/participants.ts';
import type { Conversation, Item } from '../history/conversation.ts';
import type { SessionEvent } from './events.ts';
import type { Heard, Inbound } from '../input/vad-segmenter.ts';
import type { Reply, ReplyStep } from '../output/reply.ts';
import type { SessionSettings } from './settings.ts';
import type { ProbeLine } from '../input/silence.ts';
import type { Utterance } from '../input/utterance.ts';

/** Everything that a session is made of. */
export interface SessionParts extends Players {
  readonly vad: Vad;
  /**
   * The client falls silent as soon as it is told that a reply is held, and discards what it has
   * not played.
   */
  readonly stopsAtOnce?: boolean;
  readonly clock: Clock;
  /**
   * Tests whether what the client sends gets through; absent if nothing can be stuck on its way.
   */
  readonly probeLine?: ProbeLine;
  readonly settings: SessionSettings;
  /** Predicts the end of the user's turn, if the settings ask for it. */
  readonly turnDetector?: TurnDetector;
  /**
   * Embeds voices to tell them apart; without one, the character's own voice is recognized by its
   * words alone.
   */
  readonly speakerEncoder?: SpeakerEncoder;
  /** Most speculative replies in one turn; 0 for none. */
  readonly draftsPerTurn: number;
  /** How far ahead of real time replies are sent. */
  readonly aheadMs: number;
  /** Audio kept for `retrieve`, in total. */
  readonly keptAudioMs: number;
  /** History of a conversation to continue. */
  readonly items?: readonly Item[];
  /** Ids of those items that date from before the present participants joined. */
  readonly before?: ReadonlySet<string> | undefined;
  readonly newId: (kind: 'item' | 'resp') => string;
  /**
   * Recalls the memories of the user that are relevant to the history; throws only `signal.reason`.
   */
  readonly recall?: (history: readonly Message[], options: CallOptions) => Promise<readonly string[]>;
  /** Called with internal faults; they carry no content of the conversation. */
  readonly onFault: (fault: unknown) => void;
}

/** State and callbacks shared by listening and speaking. */
export interface SessionContext extends Pick<
  SessionParts,
  'clock' | 'aheadMs' | 'newId' | 'recall' | 'onFault' | 'turnDetector' | 'draftsPerTurn'
> {
  readonly conversation: Conversation;
  readonly settings: () => SessionSettings;
  readonly company: Pick<Company, 'items' | 'moods' | 'players'>;
  /** True if the client falls silent as soon as it is told that a reply is held. */
  readonly stopsAtOnce: () => boolean;
  readonly emit: (event: SessionEvent) => void;
  readonly post: (input: SessionInput) => void;
  /** Called when a reply that wrote the conversation has ended. */
  readonly replyEnded: (reply: Reply) => void;
}

/** Everything that can happen to a session; all of it goes through one queue. */
export type SessionInput =
  | Heard
  | Inbound
  | { readonly type: 'transcript'; readonly utterance: Utterance; readonly part: TranscriptPart }
  | { readonly type: 'transcript-failure'; readonly utterance: Utterance; readonly reason: unknown }
  /** There is a new verdict on whose voice the utterance is. */
  | { readonly type: 'voice-judged'; readonly utterance: Utterance }
  | { readonly type: 'pause-judged'; readonly pause: object; readonly completeness: number | undefined }
  | { readonly type: 'reply-step'; readonly reply: Reply; readonly step: ReplyStep }
  | { readonly type: 'reply-finish'; readonly reply: Reply; readonly failure?: unknown };
