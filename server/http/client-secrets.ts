import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Character } from '../../characters/character.ts';
import { limits } from '../limits/limits.ts';
import { Quota } from '../limits/quota.ts';
import type { SessionPatch } from '../protocol/client-events.ts';
import type { SecretTerms } from '../protocol/secret-terms.ts';

/** Data bound to a client secret. */
export interface ClientSecret {
  /** The character of its sessions, and the only one unless its terms list others. */
  readonly character: Character;
  /** Initial session settings; the client may change them. */
  readonly startWith: SessionPatch | undefined;
  /** Name under which its spending is counted: the hash of the secret. */
  readonly account?: string | undefined;
  /** Absent if it has none but its character. */
  readonly terms?: SecretTerms | undefined;
  /** Account that issued the secret (see `Visitor`). Its sessions count against that account's limits. */
  readonly owner: string | undefined;
  /** Unix time in milliseconds. */
  readonly expiresAtMs: number;
}

/** Prefix of every client secret. The browser SDKs accept no other key. */
export const secretPrefix = 'ek_';

const sweepEveryMs = 1_000;

/** Short-lived client secrets, each bound to a character. Only their hashes are kept, in memory. */
export class ClientSecrets {
  readonly #byHash = new Map<string, ClientSecret & { readonly digest: Buffer; readonly release: () => void }>();
  readonly #quota = new Quota({
    total: limits.clientSecretsBytes.value,
    perKey: limits.clientSecretsBytesPerKey.value,
  });
  #sweptMs = 0;

  /** Number of secrets kept. */
  get size(): number {
    return this.#byHash.size;
  }

  /** Bytes that the secrets count for. */
  get bytes(): number {
    return this.#quota.total;
  }

  /**
   * Issues a secret of 256 random bits, which the server cannot reveal again. Returns undefined if its account, or all
   * together, would hold more than their share. `bytes`: size of the character, if it is in no pack.
   */
  issue(secret: ClientSecret, bytes = 0): string | undefined {
    this.#sweep();
    const value = `${secretPrefix}${randomBytes(32).toString('base64url')}`;
    return this.#keep(value, secret, bytes) ? value : undefined;
  }

  #keep(value: string, secret: ClientSecret, bytes: number): boolean {
    const { startWith, terms, owner } = secret;
    const ownBytes = [startWith, terms].reduce((sum, part) => sum + (part === undefined ? 0 : jsonBytes(part)), 0);
    const release = this.#quota.take(owner, limits.clientSecretOverheadBytes.value + ownBytes + bytes);
    if (typeof release !== 'function') return false;
    const digest = digestOf(value);
    const account = digest.toString('base64url');
    this.#byHash.set(digest.toString('base64'), { ...secret, account, digest, release });
    return true;
  }

  /** Takes in a secret that another node has issued. Does nothing if there is no room for it. */
  adopt(value: string, secret: ClientSecret): void {
    this.#sweep();
    this.#keep(value, secret, 0);
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
    this.#drop(digestOf(value).toString('base64'));
  }

  #drop(hash: string): void {
    this.#byHash.get(hash)?.release();
    this.#byHash.delete(hash);
  }

  #sweep(): void {
    const now = Date.now();
    if (now - this.#sweptMs < sweepEveryMs) return;
    this.#sweptMs = now;
    for (const [hash, { expiresAtMs }] of this.#byHash) if (expiresAtMs <= now) this.#drop(hash);
  }
}

/** Returns true if a secret allows a character or scene, by its id. */
export function allows({ character, terms }: ClientSecret, id: string): boolean {
  return id === character.id || terms?.characters?.includes(id) === true;
}

/** Size of a value as JSON. */
export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

function digestOf(value: string): Buffer {
  return createHash('sha256').update(value).digest();
}
