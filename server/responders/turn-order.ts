/** The kinds of participants in a scene. */
export type Part = 'user' | 'character' | 'environment';

/** The present speaker, and whether the user takes part. */
export interface TurnOrder {
  /** The present speaker; undefined if there is none. */
  readonly holder: Part | undefined;
  /** True if the user plays a role; false if the user only listens. */
  readonly userPlays: boolean;
}

/**
 * Returns when a participant may begin to speak: over the present speaker (`now`), after it (`after`), or not at all. A
 * user with a role speaks over anyone, as people do, and no one speaks over the user; a listening user is not part of
 * the scene. Everyone except the user lets the environment finish; characters do as `holdsFloorMs` says.
 */
export function maySpeak({ holder, userPlays }: TurnOrder, claimant: Part): 'now' | 'after' | 'never' {
  if (claimant === 'user') return userPlays ? 'now' : 'never';
  if (holder === 'user' && !userPlays) return 'now';
  return holder === undefined ? 'now' : 'after';
}

/** Returns true if a participant of a scene may speak now that no other one does. */
export function mayGoOn(userSpeaks: boolean, userPlays: boolean): boolean {
  return maySpeak({ holder: userSpeaks ? 'user' : undefined, userPlays }, 'character') === 'now';
}

/** Turn-taking traits of a character card: 0 to 1 each. */
export interface Temper {
  readonly patience: number;
  readonly interruptibility: number;
}

/** Earliest and latest interruption; a character that would wait longer waits for the end. */
const leastMs = 4_000;
const mostMs = 12_000;
/** A character less eager than this never interrupts. */
const eagerFrom = 0.3;

/**
 * Returns how long a character may speak, in milliseconds of its audio, before another one interrupts: the sooner, the
 * less patient the other is and the more readily the first yields; Infinity: to its end. An interrupted character stops
 * after the present word: a response carries one voice, so two are never heard at once.
 */
export function userTurnMs(holder: Temper, claimant: Temper): number {
  const eagerness = (1 - claimant.patience) * holder.interruptibility;
  if (eagerness < eagerFrom) return Infinity;
  return Math.round(mostMs - ((eagerness - eagerFrom) / (1 - eagerFrom)) * (mostMs - leastMs));
}

/** Returns the silence before the next speaker begins, in milliseconds. */
export function breathMs({ patience }: Temper): number {
  return Math.round(150 + 400 * patience);
}
