import { createHash, randomBytes } from 'node:crypto';
import type { Connection } from '../../realtime/connection.ts';
import { systemClock, type Clock } from '../../session/contract/clock.ts';
import type { Journal } from '../../journal/journal.ts';
import type { Link } from './resumable-stream.ts';
import type { OpusSound } from './opus-audio.ts';

/** A session that a dropped client may come back to. */
export interface Seat {
  readonly link: Link;
  readonly connection: Connection;
  /** Where its client asked for Opus. */
  readonly opus?: OpusSound;
  /** Kept for another server process to go on with, where the store is on. */
  readonly journal?: Journal;
}

/**
 * The sessions that can be resumed, by token. A session whose client has dropped waits here for its grace time; then it
 * ends. Only hashes of tokens are kept.
 */
export class Lobby {
  readonly #graceMs: number;
  readonly #clock: Clock;
  /** `stay`: calls off the end that is near while the client is away. */
  readonly #seats = new Map<string, Seat & { stay?: (() => void) | undefined }>();

  constructor(graceMs: number, clock: Clock = systemClock) {
    this.#graceMs = graceMs;
    this.#clock = clock;
  }

  get graceMs(): number {
    return this.#graceMs;
  }

  /** Seats whose client is away. */
  get waiting(): number {
    return [...this.#seats.values()].filter((seat) => seat.stay !== undefined).length;
  }

  /** Keeps a session under a token until its connection ends. */
  seat(token: string, seat: Seat): void {
    const key = hashOf(token);
    this.#seats.set(key, { ...seat });
    void seat.connection.done.then(() => {
      this.#seats.get(key)?.stay?.();
      this.#seats.delete(key);
      seat.journal?.remove();
    });
  }

  /** The session of a token, if it is still there. Coming back stops its clock. */
  claim(token: string): Seat | undefined {
    const seat = this.#seats.get(hashOf(token));
    if (seat === undefined) return undefined;
    seat.stay?.();
    seat.stay = undefined;
    return seat;
  }

  /** The client has dropped: the session goes on waiting for the grace time. Returns false where it is not seated. */
  leave(token: string): boolean {
    const seat = this.#seats.get(hashOf(token));
    if (seat === undefined) return false;
    seat.stay?.();
    seat.connection.away(true);
    seat.stay = this.#clock.after(this.#graceMs, () => seat.connection.close());
    return true;
  }

  /** Ends every session, away or not. Their journals stay, so that the next process can go on with them. */
  closeAll(): void {
    for (const seat of this.#seats.values()) {
      seat.journal?.close();
      seat.connection.close();
    }
  }
}

/** A token nobody can guess: 192 random bits. */
export function newToken(): string {
  return `rt_${randomBytes(24).toString('base64url')}`;
}

/** What is kept instead of a token. */
export function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
