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

/** Ours and those of papers, in our wording. What changes each turn comes late, for the prefix caches of servers. */
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
