import { createHash, randomBytes } from 'node:crypto';
import type { SessionPeer } from './open-session.ts';
import type { Connection } from '../realtime/connection.ts';
import { systemClock, type Clock } from '../session/contract/clock.ts';
import type { Journal } from '../journal/journal.ts';
import type { ResumableStream } from './resumable-stream.ts';
import type { SessionBinding } from './session-binding.ts';
import type { SessionOpus } from './session-opus.ts';

export interface ResumableSession {
  readonly link: ResumableStream;
  readonly connection: Connection;
  /** Gets the output of the session: the link, or the peer that passes it on to the link and to the audio of a call. */
  readonly peer: SessionPeer;
  /** Set if the client asked for Opus. */
  readonly opus: SessionOpus | undefined;
  /** The account, user and character that it belongs to. */
  readonly binding: SessionBinding;
  /** Journal for another server process to restore from. Set if the store is on. */
  readonly journal: Journal | undefined;
}

/** The resumable sessions, by hash of their resume token. Without its client, a session waits for the grace period. */
export class ResumableSessions {
  readonly #graceMs: number;
  readonly #clock: Clock;
  /** `stay` cancels the pending end of a session whose client is away. */
  readonly #sessions = new Map<string, ResumableSession & { stay?: (() => void) | undefined }>();

  constructor(graceMs: number, clock: Clock = systemClock) {
    this.#graceMs = graceMs;
    this.#clock = clock;
  }

  get graceMs(): number {
    return this.#graceMs;
  }

  /** Number of sessions whose client is away. */
  get waiting(): number {
    return [...this.#sessions.values()].filter((session) => session.stay !== undefined).length;
  }

  /** Registers a session under a token until its connection ends. */
  add(token: string, session: ResumableSession): void {
    const key = hashOf(token);
    this.#sessions.set(key, { ...session });
    void session.connection.done.then(() => {
      const present = this.#sessions.get(key);
      // Another one may have been restored since this one was taken over.
      if (present?.connection === session.connection) {
        present.stay?.();
        this.#sessions.delete(key);
      }
      session.journal?.remove();
    });
  }

  /** Returns the session of a token, if it still exists. */
  find(token: string): ResumableSession | undefined {
    return this.#sessions.get(hashOf(token));
  }

  /** Returns the session of a token, if it still exists, and cancels its grace period. */
  claim(token: string): ResumableSession | undefined {
    const session = this.#sessions.get(hashOf(token));
    if (session === undefined) return undefined;
    session.stay?.();
    session.stay = undefined;
    return session;
  }

  /** Ends a session that another process has taken over: its client gets nothing more from here. */
  abandon(token: string): void {
    const key = hashOf(token);
    const session = this.#sessions.get(key);
    if (session === undefined) return;
    session.stay?.();
    this.#sessions.delete(key);
    session.link.abandon();
    session.connection.close();
  }

  /** Starts the grace period of a session whose client has disconnected. Returns false if it is not registered. */
  leave(token: string): boolean {
    const session = this.#sessions.get(hashOf(token));
    if (session === undefined) return false;
    session.stay?.();
    session.connection.away(true);
    session.stay = this.#clock.after(this.#graceMs, () => session.connection.close());
    return true;
  }

  /** Ends every session, connected or not. Their journals stay, so that the next process can restore them. */
  closeAll(): void {
    for (const session of this.#sessions.values()) {
      void session.journal?.close();
      session.connection.close();
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
