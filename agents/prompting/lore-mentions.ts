import type { Card } from '../../characters/card.ts';
import { CharacterError } from '../../characters/character-error.ts';
import { lorePattern } from '../../characters/lore-pattern.ts';
import type { Decorators } from './lore-decorators.ts';
import { searchTerms } from '../retrieval/words.ts';

/** An entry of a lorebook, and what its decorators say. */
export interface Keyed {
  readonly entry: Card['lorebook'][number];
  readonly decorators: Decorators;
}

/** The entries that a text mentions. */
export type Mentions<Each> = (text: string) => ReadonlySet<Each>;

/** What is searched for keys: the words as terms, and the text as it stands. */
interface Scanned {
  readonly terms: ReadonlySet<string>;
  readonly text: string;
}

interface Finder {
  readonly finds: (scanned: Scanned) => boolean;
  /** A term without which it finds nothing; undefined for patterns, which may find anything. */
  readonly term?: string | undefined;
}

/** Texts whose mentions are kept: the talks of a few sessions, besides the book's own entries. */
const mostKept = 1_000;

/**
 * Prepares the keys of a lorebook. Entries stand under a term of each key, so that only those are looked at that a text can mention;
 * what a text mentions is kept, since a talk's messages and the book's own entries come again at every turn.
 */
export function openMentions<Each extends Keyed>(entries: readonly Each[]): Mentions<Each> {
  const byTerm = new Map<string, Each[]>();
  const always: Each[] = [];
  const tests = new Map<Each, Finder['finds']>();
  for (const each of entries) {
    const { primary, finds } = mentionOf(each);
    tests.set(each, finds);
    const terms = primary.map(({ term }) => term);
    if (terms.includes(undefined)) always.push(each);
    else for (const term of new Set(terms)) byTerm.set(term ?? '', [...(byTerm.get(term ?? '') ?? []), each]);
  }
  const kept = new Map<string, ReadonlySet<Each>>();
  const most = mostKept + entries.length;
  return (text) => {
    const known = kept.get(text);
    if (known !== undefined) return known;
    const scanned = { text, terms: new Set(searchTerms(text)) };
    const candidates = new Set([...always, ...[...scanned.terms].flatMap((term) => byTerm.get(term) ?? [])]);
    const mentioned = new Set([...candidates].filter((each) => tests.get(each)?.(scanned) === true));
    const [oldest] = kept.keys();
    if (kept.size >= most && oldest !== undefined) kept.delete(oldest);
    kept.set(text, mentioned);
    return mentioned;
  };
}

function mentionOf({ entry, decorators }: Keyed): {
  readonly primary: readonly Finder[];
  readonly finds: Finder['finds'];
} {
  const findersOf = (keys: readonly string[]): Finder[] => keys.map((key) => finderOf(key, entry));
  const primary = findersOf([...entry.keys, ...(decorators.additionalKeys ?? [])]);
  const secondary = entry.secondaryKeys === undefined ? undefined : findersOf(entry.secondaryKeys);
  const excluded = findersOf(decorators.excludeKeys ?? []);
  const isAny = (finders: readonly Finder[], scanned: Scanned): boolean => finders.some(({ finds }) => finds(scanned));
  return {
    primary,
    finds: (scanned) =>
      isAny(primary, scanned) && (secondary === undefined || isAny(secondary, scanned)) && !isAny(excluded, scanned),
  };
}

/** A plain key is found where all its words are, in any form; one that minds its case only as it is written. */
function finderOf(key: string, entry: Keyed['entry']): Finder {
  if (entry.regex === true) {
    const matches = patternOf(key, entry.caseSensitive === true);
    return { finds: ({ text }) => matches?.(text) === true };
  }
  const terms = searchTerms(key);
  const hasTerms = (scanned: Scanned): boolean => terms.length > 0 && terms.every((term) => scanned.terms.has(term));
  return {
    // The longest is likely the rarest.
    term: terms.toSorted((left, right) => right.length - left.length)[0] ?? '',
    finds: entry.caseSensitive === true ? (scanned) => hasTerms(scanned) && scanned.text.includes(key) : hasTerms,
  };
}

/** The card was checked, but not the keys in its decorators: one that is no pattern finds nothing. */
function patternOf(key: string, caseSensitive: boolean): ((text: string) => boolean) | undefined {
  try {
    return lorePattern(key, caseSensitive);
  } catch (fault) {
    if (fault instanceof CharacterError) return undefined;
    throw fault;
  }
}
