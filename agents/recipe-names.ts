/** Names of the prompt recipes, the default first; see `recipe.ts`. */
export const recipeNames = [
  'dramatis',
  'rolegpt',
  'speechrole',
  'chatharuhi',
  'beyond-dialogue',
  'ditto',
  'coser',
] as const;

export type RecipeName = (typeof recipeNames)[number];
