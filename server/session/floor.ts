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
 * speaks over anybody, as people do, and nobody speaks over the user; one who listens is not part of the scene. Characters let each
 * other finish, and everybody lets the environment finish but the user.
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
