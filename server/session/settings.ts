import type { Toolbox } from '../../agents/tools.ts';

/** What a session does, apart from who speaks in it. Defaults come from the character's temperament. */
export interface SessionSettings {
  /** The client's scene: a layer under the persona, never over it. */
  readonly scene: string;
  /** False: replies are text only. */
  readonly speaks: boolean;
  /** Whether transcripts of the user are sent to the client. */
  readonly transcribes: boolean;
  /** BCP 47 tag the user is said to speak; absent where not known. */
  readonly language?: string;
  /** Null: the client commits its audio itself (push to talk). */
  readonly turnDetection: TurnDetection | null;
  /** Factor on the pace of speech, 0.25 to 1.5. */
  readonly speed: number;
  /** Upper bound for one reply; absent means the mind's own. */
  readonly maxTokens?: number;
  /** What the character may call; absent means nothing. */
  readonly toolbox?: Toolbox;
}

/** How the server finds the user's turns. */
export interface TurnDetection {
  /** Probability from which a window counts as speech, 0 to 1. */
  readonly threshold: number;
  /** Sound kept from before the start of speech. */
  readonly prefixPaddingMs: number;
  /** Silence that ends a turn. */
  readonly silenceMs: number;
  readonly createsReply: boolean;
  /** Speaking over a reply stops it. */
  readonly interruptsReply: boolean;
  /** Silence after a reply, heard to its end, from which on the character speaks up; absent means never. */
  readonly idleMs?: number;
}

/** The part of a character that bears on the session: 0 to 1 each, see the card schema. */
interface TurnTaking {
  readonly patience: number;
  readonly interruptibility: number;
}

/** A patient character waits longer before it answers: 350 ms of silence for patience 0, 750 ms for 1. */
export function defaultTurnDetection(turnTaking: TurnTaking): TurnDetection {
  return {
    threshold: 0.5,
    prefixPaddingMs: 500,
    silenceMs: Math.round(350 + 400 * turnTaking.patience),
    createsReply: true,
    interruptsReply: true,
  };
}

/** A yielding character stops after 100 ms of speech over its own, a stubborn one after 300 ms. */
export function bargeInMs(turnTaking: TurnTaking): number {
  return Math.round(300 - 200 * turnTaking.interruptibility);
}
