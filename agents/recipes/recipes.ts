import type { Character } from '../../characters/character.ts';
import type { Recipe } from '../prompting/recipe.ts';
import type { RecipeName } from '../recipe-names.ts';
import { beyondDialogue } from './beyond-dialogue.ts';
import { chatHaruhi } from './chat-haruhi.ts';
import { coser } from './coser.ts';
import { ditto } from './ditto.ts';
import { dramatis } from './dramatis.ts';
import { roleGpt } from './role-gpt.ts';
import { speechRole } from './speech-role.ts';

/**
 * Prompt recipes: ours, and those of published work, as far as their papers and code tell (in our wording). What
 * changes from turn to turn comes as late as the paper allows, so that servers can reuse their prefix cache.
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
