import type { Card } from '../characters/card.ts';
import type { Character } from '../characters/character.ts';
import { lorePattern } from '../characters/lore-pattern.ts';
import type { Message } from './chat.ts';
import { decoratorsOf, isDue, type Decorators } from './lore-decorators.ts';
import { estimateTokens } from './token-estimate.ts';
import { searchTerms } from './words.ts';

type Entry = Card['lorebook'][number];

/** What is searched for keys: the words as terms, and the text as it stands. */
interface Scanned {
  readonly terms: ReadonlySet<string>;
  readonly text: string;
}

type Finds = (scanned: Scanned) => boolean;

interface Prepared {
  readonly index: number;
  readonly entry: Entry;
  readonly content: string;
  readonly decorators: Decorators;
  readonly isMentioned: Finds;
}

/** Recursion stops here at the latest; each entry is recalled once anyhow. */
const mostRounds = 8;

/**
 * Prepares a character's lorebook once; the function it gives returns the facts that the talk so far brings to mind: those of the
 * latest mention first, then by order, within the budget. Constant entries stand in the persona and are not among them, unless a
 * decorator makes them depend on the talk. V2 §character_book, V3 §Lorebook and §Decorators.
 */
function openLorebook({
  lorebook,
  loreReading,
}: Pick<Character, 'lorebook' | 'loreReading'>): (talk: readonly Message[]) => readonly string[] {
  const prepared = lorebook.flatMap((entry, index): Prepared[] => {
    if (entry.enabled === false) return [];
    const { decorators, content } = decoratorsOf(entry.content);
    if (content === '' || (entry.constant && !isConditional(decorators))) return [];
    return [{ index, entry, content, decorators, isMentioned: mentionOf(entry, decorators) }];
  });
  if (prepared.length === 0) return () => [];
  return (talk) => {
    const found = recallFrom(prepared, talk, loreReading);
    return withinBudget(found, loreReading.budgetTokens).map((each) => each.content);
  };
}

const opened = new WeakMap<object, ReturnType<typeof openLorebook>>();

/** The same, prepared once for each character. */
export function lorebookOf(character: Pick<Character, 'lorebook' | 'loreReading'>): ReturnType<typeof openLorebook> {
  const known = opened.get(character) ?? openLorebook(character);
  opened.set(character, known);
  return known;
}

/** The facts that always stand in the prompt, in their order. */
export function constantLore({ lorebook }: Pick<Character, 'lorebook'>): readonly string[] {
  return lorebook
    .filter((entry) => entry.constant && entry.enabled !== false)
    .map((entry) => ({ entry, ...decoratorsOf(entry.content) }))
    .filter(({ decorators, content }) => content !== '' && !isConditional(decorators))
    .toSorted((left, right) => (left.entry.order ?? 0) - (right.entry.order ?? 0))
    .map(({ content }) => content);
}

function isConditional(decorators: Decorators): boolean {
  return Object.keys(decorators).length > 0;
}

function recallFrom(
  entries: readonly Prepared[],
  talk: readonly Message[],
  { scanDepth, recursive }: Character['loreReading'],
): Prepared[] {
  const said = talk.filter((message) => message.role === 'user' || message.role === 'assistant');
  const scans = said.toReversed().map((message): Scanned => scannedOf(message.text));
  const replies = said.filter(({ role }) => role === 'assistant').length;
  const mentioned = entries.flatMap((each) => {
    const depth = mentionDepth(each, scans, each.decorators.scanDepth ?? scanDepth);
    return depth === undefined || !isDue(each.decorators, replies) ? [] : [{ each, depth }];
  });
  // The latest mention first: what was just said is what the answer is about.
  const found = new Set(mentioned.toSorted((left, right) => left.depth - right.depth).map(({ each }) => each));
  if (recursive) recallFurther(entries, found);
  return [...found];
}

/** How many messages ago an entry was mentioned, 0 for the last one; undefined where it is not to be recalled. */
function mentionDepth(
  { entry, decorators, isMentioned }: Prepared,
  scans: readonly Scanned[],
  scanDepth: number,
): number | undefined {
  if (entry.constant || decorators.activate === true) return 0;
  const from = decorators.afterMatch === 'keep' ? scans : scans.slice(0, scanDepth);
  const depth = from.findIndex(isMentioned);
  if (depth < 0) return undefined;
  // What rests after its first mention has been recalled already if it was mentioned before the last message.
  return decorators.afterMatch === 'rest' && scans.slice(1).some(isMentioned) ? undefined : depth;
}

/** Facts that the recalled facts bring to mind. */
function recallFurther(entries: readonly Prepared[], found: Set<Prepared>): void {
  let fresh = [...found];
  for (let round = 0; fresh.length > 0 && round < mostRounds; round += 1) {
    const scans = fresh.map(({ content }) => scannedOf(content));
    fresh = entries.filter((each) => !found.has(each) && scans.some(each.isMentioned));
    for (const each of fresh) found.add(each);
  }
}

/** What is dropped first where the budget is short: the lowest priority, then what was mentioned longest ago. */
function withinBudget(found: readonly Prepared[], budgetTokens: number): Prepared[] {
  const byWorth = found
    .map((each, rank) => ({ each, rank }))
    .toSorted(
      (left, right) => (right.each.entry.priority ?? 0) - (left.each.entry.priority ?? 0) || left.rank - right.rank,
    );
  let spentTokens = 0;
  const kept = byWorth.filter(({ each }) => {
    const tokens = estimateTokens(each.content);
    if (spentTokens + tokens > budgetTokens) return false;
    spentTokens += tokens;
    return true;
  });
  return kept
    .map(({ each }) => each)
    .toSorted((left, right) => (left.entry.order ?? 0) - (right.entry.order ?? 0) || left.index - right.index);
}

function scannedOf(text: string): Scanned {
  return { text, terms: new Set(searchTerms(text)) };
}

function mentionOf(entry: Entry, decorators: Decorators): Finds {
  const anyOf = (keys: readonly string[]): Finds => {
    const finds = keys.map((key) => finderOf(key, entry));
    return (scanned) => finds.some((find) => find(scanned));
  };
  const primary = anyOf([...entry.keys, ...(decorators.additionalKeys ?? [])]);
  const secondary = entry.secondaryKeys === undefined ? undefined : anyOf(entry.secondaryKeys);
  const excluded = decorators.excludeKeys === undefined ? undefined : anyOf(decorators.excludeKeys);
  return (scanned) =>
    primary(scanned) && (secondary === undefined || secondary(scanned)) && !(excluded?.(scanned) ?? false);
}

/** A plain key is found where all its words are, in any form; one that minds its case only as it is written. */
function finderOf(key: string, entry: Entry): Finds {
  if (entry.regex === true) {
    const matches = lorePattern(key, entry.caseSensitive === true);
    return ({ text }) => matches(text);
  }
  const terms = searchTerms(key);
  const hasTerms = (scanned: Scanned): boolean => terms.length > 0 && terms.every((term) => scanned.terms.has(term));
  return entry.caseSensitive === true ? (scanned) => hasTerms(scanned) && scanned.text.includes(key) : hasTerms;
}
