import type { Message } from '../../../agents/chat.ts';
import type { CallOptions } from '../../../voices/engine.ts';
import type { TurnDetector } from '../../../voices/turn-detector.ts';
import type { Clock } from '../contract/clock.ts';
import type { MessageItem } from '../contract/item.ts';
import type { SessionEvent } from '../contract/events.ts';
import type { SessionSettings } from '../contract/settings.ts';
import type { Acting } from './acting.ts';
import type { Conversation } from './conversation.ts';
import type { Participants } from './participants.ts';

/** A session's way out: time, ids, faults. */
export interface Ports {
  readonly clock: Clock;
  readonly newId: (kind: 'item' | 'resp' | 'act') => string;
  /** Called with internal faults; they carry no content of the conversation. */
  readonly onFault: (fault: unknown) => void;
}

export interface Bounds {
  /** Most speculative replies in one turn; 0 for none. */
  readonly speculativeRepliesPerTurn: number;
  /** Lead of the replies that are sent over real time. */
  readonly aheadMs: number;
  /** Audio kept for `retrieve`, in total. */
  readonly keptAudioMs: number;
}

/** State and callbacks shared by listening and speaking; `Input` is what the holder may post to the session's queue. */
export interface SessionContext<Input = never> extends Ports, Bounds {
  /** Judges whether the user has finished; absent if pauses are not judged. */
  readonly turnDetector?: TurnDetector | undefined;
  /** Recalls the memories of the user that are relevant to the history; throws only `signal.reason`. */
  readonly recall?: ((history: readonly Message[], options: CallOptions) => Promise<readonly string[]>) | undefined;
  readonly conversation: Conversation;
  readonly settings: () => SessionSettings;
  readonly participants: Pick<
    Participants,
    'items' | 'moods' | 'cast' | 'feel' | 'story' | 'heard' | 'saying' | 'misses' | 'around'
  >;
  /** The player who is heard, if there are several. */
  readonly player?: (() => Pick<MessageItem, 'speaker'>) | undefined;
  /** The client's game; undefined if it has none. */
  readonly acting: () => Acting | undefined;
  /** True if the client falls silent as soon as it is notified that a reply is held. */
  readonly stopsAtOnce: () => boolean;
  readonly emit: (event: SessionEvent) => void;
  readonly post: (input: Input) => void;
}
