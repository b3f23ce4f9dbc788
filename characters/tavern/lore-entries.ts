import type { Card } from '../card.ts';
import { lorePattern } from '../lore-pattern.ts';
import type { Lorebook, LorebookEntry } from './lorebook.ts';

type Lore = Card['lorebook'][number];

const longestContent = 20_000;

/** Converts the entries of a card's book to ours; reports unusable ones in `notes`. `say` fills in macros. */
export function loreOf(
  book: Lorebook | undefined,
  say: (text: string) => string,
  notes: string[],
): { readonly entries: readonly Lore[]; readonly reading: Partial<Card['loreReading']> } {
  if (book === undefined) return { entries: [], reading: {} };
  const entries = book.entries.flatMap((entry, index) => {
    const made = entryOf(entry, say, notes);
    if (made === undefined) notes.push(`lorebook entry ${index + 1} has no content or no key; skipped`);
    return made ?? [];
  });
  return {
    entries,
    reading: {
      ...(book.scan_depth == null ? {} : { scanDepth: Math.min(book.scan_depth, 1_000) }),
      ...(book.token_budget == null ? {} : { budgetTokens: Math.min(book.token_budget, 100_000) }),
      ...(book.recursive_scanning == null ? {} : { recursive: book.recursive_scanning }),
    },
  };
}

function entryOf(entry: LorebookEntry, say: (text: string) => string, notes: string[]): Lore | undefined {
  const keysOf = (keys: readonly string[]): string[] =>
    keys
      .map((key) => key.trim().slice(0, 400))
      .filter((key) => key !== '' && (entry.use_regex !== true || isUsable(key, notes)));
  const keys = keysOf(entry.keys).slice(0, 100);
  const content = say(entry.content).slice(0, longestContent).trim();
  const constant = entry.constant === true;
  if (content === '' || (keys.length === 0 && !constant)) return undefined;
  const secondary = entry.selective === true ? keysOf(entry.secondary_keys ?? []).slice(0, 100) : [];
  return {
    keys,
    content,
    constant,
    ...(secondary.length === 0 ? {} : { secondaryKeys: secondary }),
    ...(entry.case_sensitive === true ? { caseSensitive: true } : {}),
    ...(entry.use_regex === true ? { regex: true } : {}),
    order: entry.insertion_order,
    ...(entry.priority == null ? {} : { priority: entry.priority }),
    ...(entry.enabled ? {} : { enabled: false }),
    ...(entry.name ? { name: entry.name.slice(0, 400) } : {}),
  };
}

/** True if a pattern can be run in linear time; patterns are untrusted. */
function isUsable(key: string, notes: string[]): boolean {
  try {
    lorePattern(key, false);
    return true;
  } catch (fault) {
    notes.push(fault instanceof Error ? fault.message : String(fault));
    return false;
  }
}
