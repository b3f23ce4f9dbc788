/** Who is there to speak in a scene. */
export type Part = 'user' | 'character' | 'environment';

/** Who has the floor, and who may want it. */
export interface Floor {
  /** Who speaks now; undefined: nobody. */
  readonly holder: Part | undefined;
  /** The user has a part, rather than listens. */
  readonly userPlays: boolean;
}

/**
 * When somebody may begin to speak: over whoever speaks (`now`), once they have finished (`after`), or not at all. A user with a part
 * speaks over anybody, as people do, and nobody speaks over the user; one who listens is not part of the scene. Everybody lets the
 * environment finish but the user; characters do as `holdsFloorMs` says.
 */
export function mayTakeFloor({ holder, userPlays }: Floor, claimant: Part): 'now' | 'after' | 'never' {
  if (claimant === 'user') return userPlays ? 'now' : 'never';
  if (holder === 'user' && !userPlays) return 'now';
  return holder === undefined ? 'now' : 'after';
}

/** Whether somebody of a scene may speak now that nobody else of it does. */
export function mayGoOn(userSpeaks: boolean, userPlays: boolean): boolean {
  return mayTakeFloor({ holder: userSpeaks ? 'user' : undefined, userPlays }, 'character') === 'now';
}

/** How a character holds the floor, and waits for it: 0 to 1 each, of its card. */
export interface Temper {
  readonly patience: number;
  readonly interruptibility: number;
}

/** Nobody is cut short sooner, and who waits longer than the latter waits for the end. */
const leastMs = 4_000;
const mostMs = 12_000;
/** Who is less eager than this breaks in on nobody. */
const eagerFrom = 0.3;

/**
 * How long one character may speak, in milliseconds of its sound, before another breaks in: the sooner the less patient the other is
 * and the more readily the first gives way; Infinity: to its end. Whoever is broken in on stops after the word it is saying: a
 * response carries one voice, so two are never heard at once.
 */
export function holdsFloorMs(holder: Temper, claimant: Temper): number {
  const eagerness = (1 - claimant.patience) * holder.interruptibility;
  if (eagerness < eagerFrom) return Infinity;
  return Math.round(mostMs - ((eagerness - eagerFrom) / (1 - eagerFrom)) * (mostMs - leastMs));
}

/** The silence before somebody speaks once the floor is free, in milliseconds. */
export function breathMs({ patience }: Temper): number {
  return Math.round(150 + 400 * patience);
}
