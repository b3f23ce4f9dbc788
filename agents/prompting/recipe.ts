import type { Character } from '../../characters/character.ts';
import type { Message, Sampling } from '../chat.ts';
import type { Feelings } from '../feelings.ts';
import type { PackMatches } from './pack-search.ts';

/** Prompt of one reply, with its sampling. */
export interface Prompted {
  /** At most one system message, first; then strict alternation, the user last. */
  readonly messages: readonly Message[];
  readonly sampling: Sampling;
  readonly maxTokens: number;
}

/** Contents of a prompt besides the character and the conversation. */
export interface RecipeSettings {
  /** Set by the application; comes after the persona. */
  readonly scene?: string;
  /** Limit of the conversation sent, in estimated tokens; the oldest messages are dropped first. */
  readonly historyTokens?: number;
  /** Memories of the user, one line each; used only by `dramatis`. */
  readonly memories?: readonly string[];
  /** True if the model is offered tools. */
  readonly hasTools?: boolean;
  /** Parts of the pack that also match the last user message by embedding; if absent, only words decide. */
  readonly near?: PackMatches;
  /** The character's current feelings. */
  readonly feelings?: Feelings;
  /** The character's goal in this scene, which it keeps to itself. */
  readonly motivation?: string;
  /** The other participants. */
  readonly others?: readonly { readonly name: string; readonly profile: string }[];
}

/** Prepares a character once; the returned function builds the prompt of each reply, deterministically. */
export type Recipe = (character: Character) => (history: readonly Message[], settings: RecipeSettings) => Prompted;
