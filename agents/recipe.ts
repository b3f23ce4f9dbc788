import type { Character } from '../characters/character.ts';
import type { Message, Sampling } from './chat.ts';
import type { Feelings } from './feelings.ts';
import type { Near } from './meaning.ts';
import type { RecipeName } from './recipe-names.ts';
import { beyondDialogue } from './recipes/beyond-dialogue.ts';
import { chatHaruhi } from './recipes/chat-haruhi.ts';
import { coser } from './recipes/coser.ts';
import { ditto } from './recipes/ditto.ts';
import { dramatis } from './recipes/dramatis.ts';
import { roleGpt } from './recipes/role-gpt.ts';
import { speechRole } from './recipes/speech-role.ts';

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

/**
 * Ways of telling a model whom to play: ours, and those of the field, as far as their papers and code tell (worded by us). What
 * changes from turn to turn stands as late as the paper lets it, so that servers can reuse what they have computed.
 */
export const recipes = {
  dramatis,
  rolegpt: roleGpt,
  speechrole: speechRole,
  chatharuhi: chatHaruhi,
  'beyond-dialogue': beyondDialogue,
  ditto,
  coser,
} as const satisfies Readonly<Record<RecipeName, Recipe>>;

const opened = new WeakMap<Character, Map<RecipeName, ReturnType<Recipe>>>();

/** A recipe prepared for a character, once for each. */
export function recipeFor(character: Character, name: RecipeName = 'dramatis'): ReturnType<Recipe> {
  const known = opened.get(character) ?? new Map<RecipeName, ReturnType<Recipe>>();
  opened.set(character, known);
  const recipe = known.get(name) ?? recipes[name](character);
  known.set(name, recipe);
  return recipe;
}
