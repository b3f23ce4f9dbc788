import { createHash, timingSafeEqual } from 'node:crypto';

/** A key that clients may show, as `DRAMATIS_API_KEYS` has it: the key alone, or `NAME:KEY`. Keys of one name are one account. */
export function keyIn(entry: string): { readonly name: string | undefined; readonly key: string } {
  const [, name, key] = /^([\w-]{1,64}):(.+)$/.exec(entry) ?? [];
  return key === undefined ? { name: undefined, key: entry } : { name, key };
}

/** What stands for whoever shows this key: its name, or a hash of it; undefined where it is none of the entries'. */
export function accountOf(key: string, entries: readonly string[]): string | undefined {
  const known = entries.map(keyIn).find((one) => sameSecret(one.key, key));
  return known === undefined ? undefined : (known.name ?? digestOf(key).toString('base64url').slice(0, 16));
}

/** Compares hashes, so that neither length nor content shows in the time it takes. */
export function sameSecret(known: string, given: string): boolean {
  return timingSafeEqual(digestOf(known), digestOf(given));
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
