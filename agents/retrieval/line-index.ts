import type { DialoguePair } from '../../characters/card.ts';
import { openBm25 } from './bm25.ts';
import { fitter } from './line-fit.ts';
import { paraphrasesOfKey, remarkKey } from './paraphrases.ts';
import { searchTerms } from './words.ts';

/** A line that may answer a remark, and how well: 1 is a remark said word for word as in the pack, 0 nothing in common. */
export interface LineHit {
  readonly pair: DialoguePair;
  readonly fit: number;
}

/** Finds the lines that answer a remark, best first, each line once. */
export type FindLines = (remark: string) => readonly LineHit[];

const candidateCount = 40;
const replyBoost = 0.2;

const opened = new WeakMap<readonly DialoguePair[], Map<string, FindLines>>();

/**
 * Indexes what people may say to a character; `name` is the character's. BM25 picks candidates; how well one fits is then
 * the share of the remark and of the ask that they have in common, words weighted by rarity, so that one threshold
 * serves every pack. The index of a list of lines is made once.
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
  return (remark) => {
    const terms = searchTerms(remark);
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

/** The asks of each line, and what else people say instead of them, except where another line claims that. */
function withParaphrases(pairs: readonly DialoguePair[]): Ask[][] {
  const asks = pairs.map((pair) =>
    pair.asks.map((text): Ask => {
      const terms = searchTerms(text);
      return { key: terms.join(' '), terms };
    }),
  );
  const own = new Set(asks.flat().map(({ key }) => key));
  return asks.map((each) => {
    const others = new Set(each.flatMap(({ key }) => paraphrasesOfKey(key)).filter((ask) => !own.has(remarkKey(ask))));
    return [...each, ...[...others].map((text) => ({ key: remarkKey(text), terms: searchTerms(text) }))];
  });
}
