import { isDeepStrictEqual } from 'node:util';
import type { Card } from '../card.ts';
import type { JsonObject } from './card-file.ts';
import { loreOf } from './lore-entries.ts';
import type { Lorebook, LorebookEntry } from './lorebook.ts';

type Lore = Card['lorebook'][number];

/** An original entry, and the lore entry it was imported as. */
interface Origin {
  readonly entry: LorebookEntry;
  readonly lore: Lore;
}

/**
 * Merges edited lore into the imported book. Each entry continues the one it was imported as,
 * matched by what has not changed, so that keys of other programs (`extensions`, `position`,
 * `comment`, ids) survive. Entries that could not be read as lore stay; deleted ones are removed.
 *
 * @param write converts one of our entries to the names of the specifications
 * @param say fills in macros, as at the import
 */
export function mergeEntries(
  book: Lorebook,
  lorebook: readonly Lore[],
  write: (entry: Lore, index: number) => JsonObject,
  say: (text: string) => string,
): JsonObject[] {
  const { read } = loreOf(book, say, []);
  const imported = book.entries.map((entry, index) => ({ entry, lore: read[index] }));
  const origins = originsOf(
    imported.flatMap(({ entry, lore }) => (lore === undefined ? [] : [{ entry, lore }])),
    lorebook,
  );
  const edited = lorebook.map((lore, index) => {
    const origin = origins.get(lore);
    const now = write(lore, index);
    if (origin === undefined) return now;
    const before = write(origin.lore, index);
    const names = [...new Set([...Object.keys(before), ...Object.keys(now)])];
    const changes = names.filter((name) => !isDeepStrictEqual(now[name], before[name]));
    return { ...origin.entry, ...Object.fromEntries(changes.map((name) => [name, now[name]])) };
  });
  return [...edited, ...imported.flatMap(({ entry, lore }) => (lore === undefined ? [entry] : []))];
}

/** Match keys that an edit may leave unchanged, the most reliable first; undefined if not usable. */
const marks: readonly ((lore: Lore) => string | undefined)[] = [
  (lore) => JSON.stringify(Object.entries(lore).toSorted(([left], [right]) => (left < right ? -1 : 1))),
  ({ content }) => content,
  ({ keys }) => (keys.length === 0 ? undefined : JSON.stringify(keys)),
  ({ name }) => name,
];

function originsOf(imported: readonly Origin[], lorebook: readonly Lore[]): ReadonlyMap<Lore, Origin> {
  const origins = new Map<Lore, Origin>();
  const taken = new Set<Origin>();
  for (const markOf of marks) {
    const byMark = Map.groupBy(
      imported.filter((origin) => !taken.has(origin)),
      ({ lore }) => markOf(lore),
    );
    for (const lore of lorebook) {
      const mark = markOf(lore);
      const origin = origins.has(lore) || mark === undefined ? undefined : byMark.get(mark)?.shift();
      if (origin === undefined) continue;
      origins.set(lore, origin);
      taken.add(origin);
    }
  }
  return origins;
}
