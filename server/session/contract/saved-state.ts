import type { Feelings } from '../../../agents/feelings.ts';
import type { WorldChange } from '../../../agents/surroundings.ts';

/** State of earlier sessions with a user, with which a session goes on. */
export interface SavedState {
  /** By id of the participant; the id of a character that is alone is empty. */
  readonly feelings?: Readonly<Record<string, Feelings>> | undefined;
  readonly world?: WorldChange | undefined;
  /** By id of the character, then by axis. */
  readonly relations?: Readonly<Record<string, Readonly<Record<string, number>>>> | undefined;
}

/** A relation of a character to the user that has moved; `value`: -100 to 100. */
export interface RelationChange {
  readonly character: string;
  readonly axis: string;
  readonly value: number;
  readonly change: number;
  readonly because: string;
}
