import type { Character } from '../../characters/character.ts';
import type { Message } from '../chat.ts';
import { searchedPart } from '../retrieval/words.ts';
import { decoratorsOf, isDue, type Decorators } from './lore-decorators.ts';
import { openMentions, type Keyed, type Mentions } from './lore-mentions.ts';
import { estimateTokens } from '../llm/token-estimate.ts';
import { oncePer } from '../once-per.ts';

interface Prepared extends Keyed {
  readonly index: number;
  readonly content: string;
}

/** Characters of triggered entries that are searched for keys of others, in one turn. */
const mostRecursiveCharacters = 50_000;

/** Limit of recursion; each entry triggers at most once anyhow. */
const mostRounds = 8;

/**
 * Prepares a character's lorebook; the returned function gives the facts that the conversation triggers. Selection
 * prefers the latest mention; the result is in `order`, within the token budget. Constant entries are part of the
 * persona and not included, unless a decorator makes them conditional. V2 §character_book, V3 §Lorebook and
 * §Decorators.
 */
function openLorebook({
  lorebook,
  loreReading,
}: Pick<Character, 'lorebook' | 'loreReading'>): (talk: readonly Message[]) => readonly string[] {
  const prepared = lorebook.flatMap((entry, index): Prepared[] => {
    if (entry.enabled === false) return [];
    const { decorators, content } = decoratorsOf(entry.content);
    if (content === '' || (entry.constant && !isConditional(decorators))) return [];
    return [{ index, entry, content, decorators }];
  });
  if (prepared.length === 0) return () => [];
  const mentions = openMentions(prepared);
  return (talk) => {
    const found = recallFrom({ prepared, mentions }, talk, loreReading);
    return withinBudget(found, loreReading.budgetTokens).map((each) => each.content);
  };
}

/** Returns the prepared lorebook of a character; prepared once. */
export const lorebookOf = oncePer(openLorebook);

/** Facts that are always in the prompt, in their order. */
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

interface Book {
  readonly prepared: readonly Prepared[];
  readonly mentions: Mentions<Prepared>;
}

function recallFrom(
  { prepared, mentions }: Book,
  talk: readonly Message[],
  { scanDepth, recursive }: Character['loreReading'],
): Prepared[] {
  const said = talk
    .filter((message) => message.role === 'user' || message.role === 'assistant')
    .map(({ role, text }) => ({ role, text: searchedPart(text) }))
    .toReversed();
  const replies = said.filter(({ role }) => role === 'assistant').length;
  const mentioned = prepared.flatMap((each) => {
    const depth = mentionDepth(each, said, { mentions, depth: each.decorators.scanDepth ?? scanDepth });
    return depth === undefined || !isDue(each.decorators, replies) ? [] : [{ each, depth }];
  });
  // The latest mention first: the answer is about the last message.
  const found = new Set(mentioned.toSorted((left, right) => left.depth - right.depth).map(({ each }) => each));
  if (recursive) recallFurther(mentions, found);
  return [...found];
}

/** Returns how many messages ago an entry was mentioned, 0 for the last one; undefined if it is not triggered. */
function mentionDepth(
  each: Prepared,
  said: readonly Pick<Message, 'text'>[],
  { mentions, depth: scanDepth }: { readonly mentions: Mentions<Prepared>; readonly depth: number },
): number | undefined {
  const { entry, decorators } = each;
  if (entry.constant || decorators.activate === true) return 0;
  const isIn = ({ text }: Pick<Message, 'text'>): boolean => mentions(text).has(each);
  const from = decorators.afterMatch === 'keep' ? said : said.slice(0, scanDepth);
  const depth = from.findIndex(isIn);
  if (depth < 0) return undefined;
  // An entry that rests after its first mention has already triggered if it was mentioned before the last message.
  return decorators.afterMatch === 'rest' && said.slice(1).some(isIn) ? undefined : depth;
}

/** Adds entries mentioned by the content of those already found (recursive scanning). */
function recallFurther(mentions: Mentions<Prepared>, found: Set<Prepared>): void {
  let readCharacters = 0;
  const isRead = (content: string): boolean => (readCharacters += content.length) <= mostRecursiveCharacters;
  let fresh = [...found];
  for (let round = 0; fresh.length > 0 && round < mostRounds; round += 1) {
    const next = new Set(fresh.flatMap(({ content }) => (isRead(content) ? [...mentions(content)] : [])));
    fresh = [...next.difference(found)].toSorted((left, right) => left.index - right.index);
    for (const each of fresh) found.add(each);
  }
}

/** Drops entries over the budget: the lowest priority first, then those mentioned longest ago. */
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
