import { createHash, randomBytes } from 'node:crypto';
import type { Connection } from '../../realtime/connection.ts';
import { systemClock, type Clock } from '../../session/contract/clock.ts';
import type { Journal } from '../../journal/journal.ts';
import type { ResumableStream } from './resumable-stream.ts';
import type { SessionOpus } from './session-opus.ts';

/** A resumable session. */
export interface ResumableSession {
  readonly link: ResumableStream;
  readonly connection: Connection;
  /** Set if the client asked for Opus. */
  readonly opus: SessionOpus | undefined;
  /** Journal for another server process to restore from. Set if the store is on. */
  readonly journal: Journal | undefined;
}

/**
 * The resumable sessions, by resume token. A session whose client has disconnected waits for the grace period, then
 * ends. Only hashes of tokens are kept.
 */
export class ResumableSessions {
  readonly #graceMs: number;
  readonly #clock: Clock;
  /** `stay` cancels the pending end of a session whose client is away. */
  readonly #seats = new Map<string, ResumableSession & { stay?: (() => void) | undefined }>();

  constructor(graceMs: number, clock: Clock = systemClock) {
    this.#graceMs = graceMs;
    this.#clock = clock;
  }

  get graceMs(): number {
    return this.#graceMs;
  }

  /** Number of sessions whose client is away. */
  get waiting(): number {
    return [...this.#seats.values()].filter((seat) => seat.stay !== undefined).length;
  }

  /** Registers a session under a token until its connection ends. */
  seat(token: string, seat: ResumableSession): void {
    const key = hashOf(token);
    this.#seats.set(key, { ...seat });
    void seat.connection.done.then(() => {
      this.#seats.get(key)?.stay?.();
      this.#seats.delete(key);
      seat.journal?.remove();
    });
  }

  /** Returns the session of a token, if it still exists, and cancels its grace period. */
  claim(token: string): ResumableSession | undefined {
    const seat = this.#seats.get(hashOf(token));
    if (seat === undefined) return undefined;
    seat.stay?.();
    seat.stay = undefined;
    return seat;
  }

  /** Starts the grace period of a session whose client has disconnected. Returns false if it is not registered. */
  leave(token: string): boolean {
    const seat = this.#seats.get(hashOf(token));
    if (seat === undefined) return false;
    seat.stay?.();
    seat.connection.away(true);
    seat.stay = this.#clock.after(this.#graceMs, () => seat.connection.close());
    return true;
  }

  /** Ends every session, connected or not. Their journals stay, so that the next process can restore them. */
  closeAll(): void {
    for (const seat of this.#seats.values()) {
      seat.journal?.close();
      seat.connection.close();
    }
  }
}

/** Makes an unguessable token of 192 random bits. */
export function newToken(): string {
  return `rt_${randomBytes(24).toString('base64url')}`;
}

/** Hash of a token; only the hash is stored. */
export function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
