import { createHash } from 'node:crypto';
import type { JsonObject } from './card-file.ts';

/**
 * Hash for detecting edits of a card since it was written: covers all contents but the extensions. Empty fields are
 * ignored, since writers add those that a version of the specification requires.
 */
export function fingerprintOf(data: JsonObject): string {
  const { extensions: _, ...rest } = data;
  const filled = Object.fromEntries(Object.entries(rest).filter(([, value]) => !isNothing(value)));
  return createHash('sha256').update(canonical(filled)).digest('hex').slice(0, 16);
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

/** JSON with sorted keys, so that two writers of the same contents agree. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([left], [right]) => (left < right ? -1 : 1)))
      : each,
  );
}
