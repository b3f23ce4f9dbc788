import type { Character } from '../../characters/character.ts';
import type { Message, Sampling } from '../chat.ts';
import type { Feelings } from '../feelings.ts';
import type { Near } from './meaning.ts';

/** What a model is sent for one reply, and how it is to draw its words. */
export interface Prompted {
  /** One system message at most, first; then strict alternation, the visitor last. */
  readonly messages: readonly Message[];
  readonly sampling: Sampling;
  readonly maxTokens: number;
}

/** What a prompt holds besides the character and the talk. */
export interface RecipeSettings {
  /** Set by whoever runs the talk; it stands below the persona. */
  readonly scene?: string;
  /** How much of the talk is sent, in estimated tokens; the oldest goes first. */
  readonly historyTokens?: number;
  /** What the character remembers of whom it talks with, one line each; only `dramatis` tells it. */
  readonly memories?: readonly string[];
  /** Whether the model is offered functions that it may call. */
  readonly hasTools?: boolean;
  /** What of the pack is near the last remark in meaning too; absent, words alone decide. */
  readonly near?: Near;
  /** How the character feels by now. */
  readonly feelings?: Feelings;
  /** What the character wants in this scene, and tells nobody. */
  readonly motivation?: string;
  /** Who else is there. */
  readonly others?: readonly { readonly name: string; readonly profile: string }[];
}

/** Prepares a character once; what it gives makes the prompt of each reply, always the same one for the same talk. */
export type Recipe = (character: Character) => (history: readonly Message[], settings: RecipeSettings) => Prompted;
