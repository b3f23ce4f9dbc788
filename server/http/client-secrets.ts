import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Character } from '../../characters/character.ts';
import type { SessionPatch } from '../protocol/client-events.ts';

/** What a client secret is good for. */
export interface ClientSecret {
  /** The only one its sessions talk to. */
  readonly character: Character;
  /** What its sessions start with; the client may change it. */
  readonly startWith: SessionPatch | undefined;
  /** Who made it, see `Visitor`; its sessions count as theirs. */
  readonly owner: string | undefined;
  /** Unix time in milliseconds. */
  readonly expiresAtMs: number;
}

/** Every client secret begins so; the SDKs for browsers take no other key. */
export const secretPrefix = 'ek_';

/** Kept at most; the oldest go first. Enough for more than one a second, with the longest life there is. */
const mostSecrets = 10_000;
const sweepEveryMs = 1_000;

/** Secrets that are good for a while, each bound to a character. Only their hashes are kept, in memory. */
export class ClientSecrets {
  readonly #byHash = new Map<string, ClientSecret & { readonly digest: Buffer }>();
  #sweptMs = 0;

  /** How many are kept. */
  get size(): number {
    return this.#byHash.size;
  }

  /** Makes one of 256 random bits. Nobody can learn it from the server again. */
  issue(secret: ClientSecret): string {
    this.#sweep();
    const [oldest] = this.#byHash.keys();
    if (this.#byHash.size >= mostSecrets && oldest !== undefined) this.#byHash.delete(oldest);
    const value = `${secretPrefix}${randomBytes(32).toString('base64url')}`;
    const digest = digestOf(value);
    this.#byHash.set(digest.toString('base64'), { ...secret, digest });
    return value;
  }

  /** The secret of this value, unless it is unknown or has expired. */
  find(value: string): ClientSecret | undefined {
    const digest = digestOf(value);
    const found = this.#byHash.get(digest.toString('base64'));
    if (found === undefined || !timingSafeEqual(found.digest, digest)) return undefined;
    return found.expiresAtMs > Date.now() ? found : undefined;
  }

  /** The secret opens nothing any more; what it has opened goes on. */
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
