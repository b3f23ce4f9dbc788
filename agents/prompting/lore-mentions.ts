import type { Card } from '../../characters/card.ts';
import { CharacterError } from '../../characters/character-error.ts';
import { lorePattern } from '../../characters/lore-pattern.ts';
import type { Decorators } from './lore-decorators.ts';
import { searchTerms } from '../retrieval/words.ts';

/** A lorebook entry and its decorators. */
export interface Keyed {
  readonly entry: Card['lorebook'][number];
  readonly decorators: Decorators;
}

/** Returns the entries whose keys occur in a text. */
export type Mentions<Each> = (text: string) => ReadonlySet<Each>;

/** A text prepared for key search: its terms, and the original. */
interface Scanned {
  readonly terms: ReadonlySet<string>;
  readonly text: string;
}

interface Finder {
  readonly finds: (scanned: Scanned) => boolean;
  /** A term the text must contain for a match; undefined for patterns, which may match anything. */
  readonly term?: string | undefined;
}

/** Limit of cached texts: the conversations of a few sessions, besides the book's own entries. */
const mostKept = 1_000;

/** Prepares the keys of a lorebook, indexed by a term of each. Caches results, since texts recur every turn. */
export function openMentions<Each extends Keyed>(entries: readonly Each[]): Mentions<Each> {
  const byTerm = new Map<string, Each[]>();
  const always: Each[] = [];
  const tests = new Map<Each, Finder['finds']>();
  for (const each of entries) {
    const { primary, finds } = mentionOf(each);
    tests.set(each, finds);
    const terms = primary.map(({ term }) => term);
    if (terms.includes(undefined)) always.push(each);
    else
      for (const term of new Set(terms)) {
        const place = byTerm.get(term ?? '');
        if (place === undefined) byTerm.set(term ?? '', [each]);
        else place.push(each);
      }
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

/** A plain key matches if all its words occur, in any form; a case-sensitive one only as written. */
function finderOf(key: string, entry: Keyed['entry']): Finder {
  if (entry.regex === true) {
    let matches: ReturnType<typeof patternOf> | undefined;
    return {
      finds({ text }) {
        matches ??= patternOf(key, entry.caseSensitive === true);
        return matches(text);
      },
    };
  }
  const terms = searchTerms(key);
  const hasTerms = (scanned: Scanned): boolean => terms.length > 0 && terms.every((term) => scanned.terms.has(term));
  return {
    // The longest term is probably the rarest.
    term: terms.toSorted((left, right) => right.length - left.length)[0] ?? '',
    finds: entry.caseSensitive === true ? (scanned) => hasTerms(scanned) && scanned.text.includes(key) : hasTerms,
  };
}

/** The card was validated, but not the keys in its decorators: an invalid pattern matches nothing. */
function patternOf(key: string, caseSensitive: boolean): (text: string) => boolean {
  try {
    return lorePattern(key, caseSensitive);
  } catch (fault) {
    if (fault instanceof CharacterError) return () => false;
    throw fault;
  }
}
