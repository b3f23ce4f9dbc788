import { createHash } from 'node:crypto';
import type { JsonObject } from './card-file.ts';

/** What tells whether somebody edited a card since it was written: all its contents but the extensions. */
export function fingerprintOf(data: JsonObject): string {
  const { extensions: _, ...rest } = data;
  return createHash('sha256').update(canonical(rest)).digest('hex').slice(0, 16);
}

/** JSON with the keys in order, so that two writers of the same contents agree. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([left], [right]) => (left < right ? -1 : 1)))
      : each,
  );
}
