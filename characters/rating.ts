/** Whom the words of a talk are fit for, from the strictest on. */
export const ratings = ['everyone', 'teen', 'mature'] as const;

export type Rating = (typeof ratings)[number];

/** Returns the strictest of the ratings that are set. */
export function strictest(...set: readonly (Rating | undefined)[]): Rating | undefined {
  return ratings.find((rating) => set.includes(rating));
}
