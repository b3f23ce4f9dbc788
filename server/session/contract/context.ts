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

/** What a session is made of. */
export interface SessionParts extends Players {
  readonly vad: Vad;
  /** The client falls silent as soon as it is told that a reply is held, and throws away what it has not played. */
  readonly stopsAtOnce?: boolean;
  readonly clock: Clock;
  /** Finds out whether what the client sends comes through; absent where nothing can be stuck on its way. */
  readonly probeLine?: ProbeLine;
  readonly settings: SessionSettings;
  /** Tells whether the user has finished, where the settings ask for it. */
  readonly turnDetector?: TurnDetector;
  /** Tells voices apart; without one, the character's own is known by its words alone. */
  readonly speakerEncoder?: SpeakerEncoder;
  /** Answers that may be prepared in one turn before it is over; 0 for none. */
  readonly draftsPerTurn: number;
  /** How far ahead of real time replies are sent. */
  readonly aheadMs: number;
  /** Sound kept for `retrieve`, in all. */
  readonly keptAudioMs: number;
  /** A conversation to go on with. */
  readonly items?: readonly Item[];
  /** Of those, the ones from before who plays now came. */
  readonly before?: ReadonlySet<string> | undefined;
  readonly newId: (kind: 'item' | 'resp') => string;
  /** What the character remembers of the user, as far as it bears on what was said; throws `signal.reason` alone. */
  readonly recall?: (history: readonly Message[], options: CallOptions) => Promise<readonly string[]>;
  /** Told of faults that are ours, without content. */
  readonly onFault: (fault: unknown) => void;
}

/** What the two sides of a conversation share. */
export interface SessionContext extends Pick<
  SessionParts,
  'clock' | 'aheadMs' | 'newId' | 'recall' | 'onFault' | 'turnDetector' | 'draftsPerTurn'
> {
  readonly conversation: Conversation;
  readonly settings: () => SessionSettings;
  readonly company: Pick<Company, 'items' | 'moods' | 'players'>;
  /** Whether the client falls silent as soon as it is told that a reply is held. */
  readonly stopsAtOnce: () => boolean;
  readonly emit: (event: SessionEvent) => void;
  readonly post: (input: SessionInput) => void;
  /** The reply that wrote the conversation has ended. */
  readonly replyEnded: (reply: Reply) => void;
}

/** Everything that can happen to a session; all of it goes through one queue. */
export type SessionInput =
  | Heard
  | Inbound
  | { readonly type: 'transcript'; readonly utterance: Utterance; readonly part: TranscriptPart }
  | { readonly type: 'transcript-failure'; readonly utterance: Utterance; readonly reason: unknown }
  /** More is known of whose voice it is. */
  | { readonly type: 'voice-judged'; readonly utterance: Utterance }
  | { readonly type: 'pause-judged'; readonly pause: object; readonly completeness: number | undefined }
  | { readonly type: 'reply-step'; readonly reply: Reply; readonly step: ReplyStep }
  | { readonly type: 'reply-finish'; readonly reply: Reply; readonly failure?: unknown };
