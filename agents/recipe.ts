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
  /**
   * Parts of the pack that also match the last user message by embedding; absent, words alone
   * decide.
   */
  readonly near?: Near;
  /** The character's current feelings. */
  readonly feelings?: Feelings;
  /** The character's goal in this scene, which it keeps to itself. */
  readonly motivation?: string;
  /** The other participants. */
  readonly others?: readonly { readonly name: string; readonly profile: string }[];
}

/**
 * Prepares a character once; the returned function builds the prompt of each reply,
 * deterministically.
 */
export type Recipe = (character: Character) => (history: readonly Message[], settings: RecipeSettings) => Prompted;

/**
 * Prompt recipes: ours, and those of published work, as far as their papers and code tell (in our
 * wording). What changes from turn to turn comes as late as the paper allows, so that servers can
 * reuse their prefix cache.
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

/** Returns a recipe prepared for a character, once for each. */
export function recipeFor(character: Character, name: RecipeName = 'dramatis'): ReturnType<Recipe> {
  const known = opened.get(character) ?? new Map<RecipeName, ReturnType<Recipe>>();
  opened.set(character, known);
  const recipe = known.get(name) ?? recipes[name](character);
  known.set(name, recipe);
  return recipe;
}
