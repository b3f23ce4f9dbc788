import type { Card } from '../card.ts';
import { maxCardPatternInstructions, maxCardPatterns } from '../limits.ts';
import { lorePattern, patternInstructions } from '../lore-pattern.ts';
import type { Lorebook, LorebookEntry } from './lorebook.ts';

type Lore = Card['lorebook'][number];

const longestContent = 20_000;

/** Converts the entries of a card's book to ours; reports unusable ones in `notes`. `say` fills in macros. */
export function loreOf(
  book: Lorebook | undefined,
  say: (text: string) => string,
  notes: string[],
): {
  readonly entries: readonly Lore[];
  /** The same for each entry of the book; undefined for one that cannot be used. */
  readonly read: readonly (Lore | undefined)[];
  readonly reading: Partial<Card['loreReading']>;
} {
  if (book === undefined) return { entries: [], read: [], reading: {} };
  const isUsable = openPatternBudget(notes);
  const read = book.entries.map((entry, index) => {
    const made = entryOf(entry, say, isUsable);
    if (made === undefined) notes.push(`lorebook entry ${index + 1} has no content or no key; skipped`);
    return made;
  });
  return {
    read,
    entries: read.filter((entry) => entry !== undefined),
    reading: {
      ...(book.scan_depth == null ? {} : { scanDepth: Math.min(book.scan_depth, 1_000) }),
      ...(book.token_budget == null ? {} : { budgetTokens: Math.min(book.token_budget, 100_000) }),
      ...(book.recursive_scanning == null ? {} : { recursive: book.recursive_scanning }),
    },
  };
}

function entryOf(
  entry: LorebookEntry,
  say: (text: string) => string,
  isUsable: (pattern: string) => boolean,
): Lore | undefined {
  const keysOf = (keys: readonly string[]): string[] =>
    keys
      .slice(0, 100)
      .map((key) => key.trim().slice(0, 400))
      .filter((key) => key !== '' && (entry.use_regex !== true || isUsable(key)));
  const keys = keysOf(entry.keys);
  const content = say(entry.content.slice(0, 2 * longestContent))
    .slice(0, longestContent)
    .trim();
  const constant = entry.constant === true;
  if (content === '' || (keys.length === 0 && !constant)) return undefined;
  const secondary = entry.selective === true ? keysOf(entry.secondary_keys ?? []) : [];
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

/**
 * Returns a check of patterns, which are untrusted: true for one that can be run in linear time, as long as all that
 * passed are within the limits of a card. Each is compiled, to know that it is valid.
 */
function openPatternBudget(notes: string[]): (pattern: string) => boolean {
  let tried = 0;
  let count = 0;
  let instructions = 0;
  let isFull = false;
  return (pattern) => {
    if (isFull) return false;
    tried += 1;
    const size = patternInstructions(pattern);
    isFull =
      count >= maxCardPatterns || tried > 2 * maxCardPatterns || instructions + size > maxCardPatternInstructions;
    if (isFull) {
      notes.push(`the lorebook has more regular expressions than ${count}, or larger ones; the rest is left out`);
      return false;
    }
    try {
      lorePattern(pattern, false);
    } catch (fault) {
      notes.push(fault instanceof Error ? fault.message : String(fault));
      return false;
    }
    count += 1;
    instructions += size;
    return true;
  };
}
