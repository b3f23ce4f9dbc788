import type { RecipeName } from '../../../agents/recipe-names.ts';
import type { Toolbox } from '../../../agents/tools.ts';
import type { Patience } from '../../../voices/turn-detector.ts';

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
  /** How a model is told whom to play; absent means the server's own way. */
  readonly recipe?: RecipeName;
  /** What the character may call; absent means nothing. */
  readonly toolbox?: Toolbox;
}

/** How the server finds the user's turns. */
export interface TurnDetection {
  /** Probability from which a window counts as speech, 0 to 1. */
  readonly threshold: number;
  /** Sound kept from before the start of speech. */
  readonly prefixPaddingMs: number;
  /** Silence that ends a turn, unless it is known how complete the turn is. */
  readonly silenceMs: number;
  /** How long to wait where it is known; absent: always `silenceMs`. */
  readonly patience?: Patience;
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
  readonly backchannels: number;
}

/**
 * A patient character waits longer before it answers. Where it cannot tell whether its partner has finished: 350 ms of
 * silence for patience 0, 750 ms for 1. Where it can: 200 to 400 ms when they have, up to 2.5 s when they have not.
 */
export function defaultTurnDetection(turnTaking: TurnTaking): TurnDetection {
  return {
    threshold: 0.5,
    prefixPaddingMs: 500,
    silenceMs: Math.round(350 + 400 * turnTaking.patience),
    patience: { leastMs: Math.round(200 + 200 * turnTaking.patience), mostMs: 2_500, threshold: completeFrom },
    createsReply: true,
    interruptsReply: true,
  };
}

/** Completeness from which on a turn counts as finished, found by `npm run bench -- endpointing`. */
export const completeFrom = 0.8;

/**
 * Any speech over its own makes a character pause. It gives way to words; to a voice whose words are not known, a yielding
 * one after 560 ms, a stubborn one after 660 ms.
 */
export function bargeInMs(turnTaking: TurnTaking): number {
  return Math.round(660 - 100 * turnTaking.interruptibility);
}

/** Somebody with a habit of 1 nods every 3 s of talk at most, with 0.2 every 15 s; with 0 never. */
export function nodEveryMs({ backchannels }: TurnTaking): number | undefined {
  return backchannels === 0 ? undefined : Math.round(3_000 / backchannels);
}
