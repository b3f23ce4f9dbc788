import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Character } from '../../characters/character.ts';
import type { SessionPatch } from '../protocol/client-events.ts';

/** Data bound to a client secret. */
export interface ClientSecret {
  /** The only character that its sessions may use. */
  readonly character: Character;
  /** Initial session settings; the client may change them. */
  readonly startWith: SessionPatch | undefined;
  /** Account that issued the secret (see `Visitor`). Its sessions count against that account's limits. */
  readonly owner: string | undefined;
  /** Unix time in milliseconds. */
  readonly expiresAtMs: number;
}

/** Prefix of every client secret. The browser SDKs accept no other key. */
export const secretPrefix = 'ek_';

/**
 * Most secrets kept; the oldest are dropped first. Allows more than one per second at the longest lifetime (two hours).
 */
const mostSecrets = 10_000;
const sweepEveryMs = 1_000;

/** Short-lived client secrets, each bound to a character. Only their hashes are kept, in memory. */
export class ClientSecrets {
  readonly #byHash = new Map<string, ClientSecret & { readonly digest: Buffer }>();
  #sweptMs = 0;

  /** Number of secrets kept. */
  get size(): number {
    return this.#byHash.size;
  }

  /** Issues a secret of 256 random bits. The server cannot reveal it again. */
  issue(secret: ClientSecret): string {
    this.#sweep();
    const [oldest] = this.#byHash.keys();
    if (this.#byHash.size >= mostSecrets && oldest !== undefined) this.#byHash.delete(oldest);
    const value = `${secretPrefix}${randomBytes(32).toString('base64url')}`;
    const digest = digestOf(value);
    this.#byHash.set(digest.toString('base64'), { ...secret, digest });
    return value;
  }

  /** Returns the data of a secret, or undefined if it is unknown or expired. */
  find(value: string): ClientSecret | undefined {
    const digest = digestOf(value);
    const found = this.#byHash.get(digest.toString('base64'));
    if (found === undefined || !timingSafeEqual(found.digest, digest)) return undefined;
    return found.expiresAtMs > Date.now() ? found : undefined;
  }

  /** Revokes a secret. Sessions that were opened with it go on. */
  revoke(value: string): void {
    this.#byHash.delete(digestOf(value).toString('base64'));
  }

  #sweep(): void {
    const now = Date.now();
    if (now - this.#sweptMs < sweepEveryMs) return;
    this.#sweptMs = now;
    for (const [hash, { expiresAtMs }] of this.#byHash) if (expiresAtMs <= now) this.#byHash.delete(hash);
  }
}

function digestOf(value: string): Buffer {
  return createHash('sha256').update(value).digest();
}
