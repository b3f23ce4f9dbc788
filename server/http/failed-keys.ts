import { limits } from '../limits/limits.ts';
import type { Refusal } from './problem.ts';
import { TokenBucket } from './rate-limit.ts';

/** Kinds of requests without a valid key; those of a throttled address are not looked at. */
export type FailedKeyReason = 'wrong' | 'missing' | 'throttled';

interface Address {
  readonly bucket: TokenBucket;
  /** Accounts whose keys were accepted from this address before; guessing by others does not lock them out. */
  readonly accounts: Set<string | undefined>;
}

/** The wrong keys that each address has shown. Slows down guessing; during this time a right key is not checked either. */
export class FailedKeys {
  readonly #addresses = new Map<string, Address>();
  readonly #count: (reason: FailedKeyReason) => void;

  constructor(count: (reason: FailedKeyReason) => void) {
    this.#count = count;
  }

  /** Refuses a key of an address that has shown too many wrong ones. `owner`: the account, if the key is right. */
  refusalFor(address: string, owner: string | undefined): Refusal | undefined {
    const known = this.#addresses.get(address);
    if (known === undefined || known.bucket.waitMs === 0) return undefined;
    if (owner !== undefined && known.accounts.has(owner)) return undefined;
    this.#count('throttled');
    const message = 'This address has sent too many wrong keys. Wait, then retry with a valid one.';
    const problem = { code: 'rate_limit_exceeded', message } as const;
    return { status: 429, problem, retryAfterSeconds: known.bucket.waitMs / 1000 };
  }

  accepted(address: string, owner: string | undefined): void {
    this.#of(address).accounts.add(owner);
  }

  /** Notes a request without a valid key. Only wrong keys slow an address down. */
  failed(address: string, reason: 'wrong' | 'missing'): void {
    this.#count(reason);
    if (reason === 'wrong') this.#of(address).bucket.take();
  }

  #of(address: string): Address {
    const known = this.#addresses.get(address);
    if (known !== undefined) return known;
    const [oldest] = this.#addresses.keys();
    if (this.#addresses.size >= limits.addresses.value && oldest !== undefined) this.#addresses.delete(oldest);
    const { value } = limits.failedKeys;
    const bucket = new TokenBucket({ burst: value, perSecond: value / 60, now: () => performance.now() });
    const fresh: Address = { bucket, accounts: new Set() };
    this.#addresses.set(address, fresh);
    return fresh;
  }
}

/** At most one line of an address in this time. */
const lineEveryMs = 60_000;

/**
 * Logs refused requests: the first of an address at once, those that follow as one line a minute, because each line
 * costs the server more than the request costs the client.
 */
export class RefusalLog {
  /** Number of requests of an address that were refused since its last line. */
  readonly #unlogged = new Map<string, number>();

  note(address: string, log: (times: number) => void): void {
    const unlogged = this.#unlogged.get(address);
    if (unlogged !== undefined) return void this.#unlogged.set(address, unlogged + 1);
    if (this.#unlogged.size >= limits.addresses.value) return;
    log(1);
    this.#wait(address, log);
  }

  #wait(address: string, log: (times: number) => void): void {
    this.#unlogged.set(address, 0);
    const timer = setTimeout(() => {
      const times = this.#unlogged.get(address) ?? 0;
      if (times === 0) return void this.#unlogged.delete(address);
      log(times);
      this.#wait(address, log);
    }, lineEveryMs);
    timer.unref();
  }
}
