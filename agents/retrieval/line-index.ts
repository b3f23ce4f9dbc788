import type { DialoguePair } from '../../characters/card.ts';
import { searchedPart } from '../limits.ts';
import { openBm25 } from './bm25.ts';
import { fitter } from './line-fit.ts';
import { paraphrasesOfKey, messageKey } from './paraphrases.ts';
import { searchTerms } from './words.ts';

/**
 * A line that may answer a user message, and its fit: 1 if the message is a trigger word for word, 0 if they have
 * nothing in common.
 */
export interface LineHit {
  readonly pair: DialoguePair;
  readonly fit: number;
}

/** Finds the lines that answer a user message, best first, each line once. */
export type FindLines = (userMessage: string) => readonly LineHit[];

const candidateCount = 40;
const replyBoost = 0.2;

const opened = new WeakMap<readonly DialoguePair[], Map<string, FindLines>>();

/**
 * Indexes the triggers of a character's lines; `name` is the character's. BM25 picks candidates; their fit is the share
 * of the message and of the trigger that they have in common, words weighted by rarity, so that one threshold serves
 * every pack. The index of a list of lines is built once.
 */
export function indexLines(pairs: readonly DialoguePair[], name: string): FindLines {
  const known = opened.get(pairs) ?? new Map<string, FindLines>();
  opened.set(pairs, known);
  const find = known.get(name) ?? openIndex(pairs, name);
  known.set(name, find);
  return find;
}

function openIndex(pairs: readonly DialoguePair[], name: string): FindLines {
  const lines = withParaphrases(pairs).map((asks, index) => ({
    askTerms: asks.map(({ terms }) => terms),
    ownCount: pairs[index]?.asks.length ?? 0,
    ownTerms: asks.slice(0, pairs[index]?.asks.length).flatMap(({ terms }) => terms),
    replyTerms: searchTerms(pairs[index]?.reply ?? ''),
  }));
  const { fitOf, weightOf } = fitter(lines, searchTerms(name));
  const rank = openBm25(
    lines.map(({ askTerms, replyTerms }) => [{ terms: askTerms.flat() }, { terms: replyTerms, boost: replyBoost }]),
  );
  return (userMessage) => {
    const terms = searchTerms(searchedPart(userMessage));
    const candidates = rank(terms, candidateCount, weightOf).map(({ index }) => index);
    const fits = fitOf(terms, candidates);
    return candidates
      .map((index, at): LineHit => ({ pair: pairs[index] as DialoguePair, fit: fits[at] ?? 0 }))
      .toSorted((left, right) => right.fit - left.fit);
  };
}

interface Ask {
  readonly key: string;
  readonly terms: readonly string[];
}

/** The triggers of each line with their paraphrases, except those that another line has as its own trigger. */
function withParaphrases(pairs: readonly DialoguePair[]): Ask[][] {
  const asks = pairs.map((pair) =>
    pair.asks.map((text): Ask => {
      const terms = searchTerms(text);
      return { key: terms.join(' '), terms };
    }),
  );
  const own = new Set(asks.flat().map(({ key }) => key));
  return asks.map((each) => {
    const others = new Set(each.flatMap(({ key }) => paraphrasesOfKey(key)).filter((ask) => !own.has(messageKey(ask))));
    return [...each, ...[...others].map((text) => ({ key: messageKey(text), terms: searchTerms(text) }))];
  });
}
