import type { Feelings } from '../../../agents/feelings.ts';
import type { StoryPlace } from '../../../agents/scene/sections.ts';
import type { WorldChange } from '../../../agents/surroundings.ts';
import type { RecipeName } from '../../../agents/recipe-names.ts';
import type { OfferedAction } from '../../../agents/output/offered-actions.ts';
import type { Sampling } from '../../../agents/chat.ts';
import type { Hears } from '../../../agents/scene/hearing.ts';
import type { Toolbox } from '../../../agents/tools.ts';
import type { EndpointingTimeouts } from '../../../voices/turn-detector.ts';
import type { Speaker } from './item.ts';

/** Behaviour of a session, apart from which characters speak in it. Defaults come from the character's temperament. */
export interface SessionSettings {
  /** The client's scene: added below the persona in the prompt, never replaces it. */
  readonly scene: string;
  /** False: replies are text only. */
  readonly speaks: boolean;
  /** True if transcripts of the user are sent to the client. */
  readonly transcribes: boolean;
  /** BCP 47 tag of the user's language; absent if unknown. */
  readonly language?: string;
  /** Null: the client commits its audio itself (push to talk). */
  readonly turnDetection: TurnDetection | null;
  /** Speaking rate factor, 0.25 to 1.5. */
  readonly speed: number;
  /** Upper bound of tokens for one reply; absent: the LLM's own. */
  readonly maxTokens?: number;
  /** Prompt recipe for the LLM that plays the character; absent: the server's default. */
  readonly recipe?: RecipeName;
  /** Tools that the character may call; absent: none. */
  readonly toolbox?: Toolbox;
  /** Sampling of the LLM; its seed also fixes what else is drawn by chance. Absent: the character's own. */
  readonly sampling?: Sampling;
  /** Actions that the game offers to the characters; absent: none. */
  readonly actions?: readonly OfferedAction[];
  /** Several players, each with audio of its own; absent: one. */
  readonly players?: readonly Player[];
  /** Hearing of the characters among each other and of the user; absent: every word. */
  readonly hears?: Hears;
}

/** A player of a game with several. `number`: names its audio, from 0 to 65,535. */
export interface Player {
  readonly number: number;
  readonly name: string;
}

/** Returns a player as the speaker of its items. */
export function speakerOf({ number, name }: Player): Speaker {
  return { id: `player-${number}`, name };
}

/** Settings of turn detection. */
export interface TurnDetection {
  /** VAD probability from which a window counts as speech, 0 to 1. */
  readonly threshold: number;
  /** Pre-roll: audio kept from before speech start. */
  readonly prefixPaddingMs: number;
  /** Silence that ends a turn if there is no end-of-turn probability. */
  readonly silenceMs: number;
  /** Waits if there is an end-of-turn probability; absent: always `silenceMs`. */
  readonly patience?: EndpointingTimeouts;
  readonly createsReply: boolean;
  /** Barge-in: speech over a reply stops it. */
  readonly interruptsReply: boolean;
  /** Silence after a reply was heard to its end until the character speaks up; absent: never. */
  readonly idleMs?: number;
}

/** The part of a character that matters to the session: 0 to 1 each, see the card schema. */
interface TurnTaking {
  readonly patience: number;
  readonly interruptibility: number;
  readonly backchannels: number;
}

/**
 * Turn detection for a temperament: 350 ms of silence (patience 0) to 750 ms (1) without an end-of-turn probability;
 * with one, the wait with the least expected cost, see `endpointingTimeoutMs`: 200 to 400 ms if the turn is complete, 1.25 s
 * at most if that is uncertain, and 2.5 s only after words that hang. For a patient character a cut-in costs more.
 */
export function defaultTurnDetection(turnTaking: TurnTaking): TurnDetection {
  return {
    threshold: 0.5,
    prefixPaddingMs: 500,
    silenceMs: Math.round(350 + 400 * turnTaking.patience),
    patience: {
      leastMs: Math.round(200 + 200 * turnTaking.patience),
      mostMs: 2_500,
      cutInCostMs: Math.round(2_000 + 2_000 * turnTaking.patience),
    },
    createsReply: true,
    interruptsReply: true,
  };
}

/**
 * Returns how much voice over a reply counts as a barge-in if its words are unknown: 620 ms for a character that yields
 * easily, 720 ms for a stubborn one. Any voice over a reply pauses it at once; words that are no backchannel stop it sooner.
 */
export function bargeInMs(turnTaking: TurnTaking): number {
  return Math.round(720 - 100 * turnTaking.interruptibility);
}

/**
 * How long the user may talk before a pause brings a backchannel: 3 s for a habit of 1, 15 s for 0.2; undefined for 0.
 */
export function backchannelEveryMs({ backchannels }: TurnTaking): number | undefined {
  return backchannels === 0 ? undefined : Math.round(3_000 / backchannels);
}

/** State of earlier sessions with a user, with which a session continues. */
export interface SavedState {
  /** By id of the participant; the id is empty if there is only one character. */
  readonly feelings?: Readonly<Record<string, Feelings>> | undefined;
  readonly world?: WorldChange | undefined;
  /** The section of the scene. */
  readonly story?: StoryPlace | undefined;
  /** Relations to the user. */
  readonly relations?: RelationValues | undefined;
  /** Relations to players, by id of the player as a speaker. */
  readonly relationsWith?: Readonly<Record<string, RelationValues>> | undefined;
}

/** By id of the character, then by axis. */
export type RelationValues = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** A relation of a character that has moved; `value`: -100 to 100. */
export interface RelationChange {
  readonly character: string;
  /** `user`, or the id of a player as a speaker. */
  readonly with: string;
  readonly axis: string;
  readonly value: number;
  readonly change: number;
  readonly because: string;
}
