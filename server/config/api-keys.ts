import { createHash, timingSafeEqual } from 'node:crypto';

/** Parses an entry of `DRAMATIS_API_KEYS`: only the key, or `NAME:KEY`. Keys with the same name share one account. */
export function keyIn(entry: string): { readonly name: string | undefined; readonly key: string } {
  const [, name, key] = /^([\w-]{1,64}):(.+)$/.exec(entry) ?? [];
  return key === undefined ? { name: undefined, key: entry } : { name, key };
}

/** Returns the account of a key: its name, or a hash of the key. Undefined if the key is not one of the entries. */
export function accountOf(key: string, entries: readonly string[]): string | undefined {
  const known = entries.map(keyIn).find((one) => sameSecret(one.key, key));
  return known === undefined ? undefined : nameOf(known);
}

/** All accounts of the entries. */
export function accountsOf(entries: readonly string[]): ReadonlySet<string> {
  return new Set(entries.map((entry) => nameOf(keyIn(entry))));
}

function nameOf({ name, key }: ReturnType<typeof keyIn>): string {
  return name ?? digestOf(key).toString('base64url').slice(0, 16);
}

/** Compares two secrets by their hashes, so that the time taken reveals neither length nor content. */
export function sameSecret(known: string, given: string): boolean {
  return timingSafeEqual(digestOf(known), digestOf(given));
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
