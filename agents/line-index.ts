import MiniSearch from 'minisearch';
import type { DialoguePair } from '../characters/card.ts';
import { paraphrasesOf, remarkKey } from './paraphrases.ts';
import { isFrame, searchTerms } from './words.ts';

/** A line that may answer a remark, and how well: 1 is a remark said word for word as in the pack, 0 nothing in common. */
export interface LineHit {
  readonly pair: DialoguePair;
  readonly fit: number;
}

/** Finds the lines that answer a remark, best first, each line once. */
export type FindLines = (remark: string) => readonly LineHit[];

interface IndexedLine {
  readonly id: number;
  readonly asks: string;
  readonly reply: string;
}

const candidateCount = 40;
/** What a word of the remark weighs that only another ask of the same line has, beside 1 for a word of the ask itself. */
const rowShare = 0.7;
/** The same for a word that only the reply has. */
const replyShare = 0.35;
/** What a frame word ("tell", "about") weighs beside a topic word. */
const frameShare = 0.4;
/** Both the remark and the ask must be matched to this share. */
const leastCover = 0.3;
/** What is left of a fit when one of the two says "not". */
const negationShare = 0.8;

/**
 * Indexes what people may say to a character; `name` is the character's. BM25 picks candidates; how well one fits is then
 * the share of the remark and of the ask that they have in common, words weighted by rarity, so that one threshold
 * serves every pack.
 */
export function indexLines(pairs: readonly DialoguePair[], name: string): FindLines {
  const lines = withParaphrases(pairs).map((asks, id) => ({
    pair: pairs[id] as DialoguePair,
    askTerms: asks.map((ask) => termsOf([ask])),
    ownTerms: termsOf(pairs[id]?.asks ?? []),
    replyTerms: termsOf([pairs[id]?.reply ?? '']),
    document: { id, asks: asks.join('\n'), reply: pairs[id]?.reply ?? '' },
  }));
  const scale = weighTerms(
    lines.flatMap((line) => line.askTerms),
    termsOf([name]),
  );
  const search = new MiniSearch<IndexedLine>({
    fields: ['asks', 'reply'],
    tokenize: (text) => text.split('\n').flatMap(searchTerms),
    processTerm: (term) => term,
    searchOptions: { boost: { asks: 1, reply: 0.2 }, boostTerm: (term) => (scale.isTopic(term) ? 1 : frameShare) },
  });
  search.addAll(lines.map((line) => line.document));

  return (remark) => {
    const remarkTerms = termsOf([remark]);
    return search
      .search(remark)
      .slice(0, candidateCount)
      .flatMap((hit) => {
        const line = lines[Number(hit.id)];
        if (line === undefined) return [];
        const fits = line.askTerms.map((ask) => fitOf(remarkTerms, { ...line, ask }, scale));
        return [{ pair: line.pair, fit: Math.max(...fits) }];
      })
      .toSorted((left, right) => right.fit - left.fit);
  };
}

function termsOf(texts: readonly string[]): ReadonlySet<string> {
  return new Set(texts.flatMap(searchTerms));
}

interface Scale {
  readonly weightOf: (term: string) => number;
  readonly isTopic: (term: string) => boolean;
}

/** The mean of both coverages. No fit where the remark speaks of something and the ask does not share it. */
function fitOf(
  remark: ReadonlySet<string>,
  line: {
    readonly ask: ReadonlySet<string>;
    readonly ownTerms: ReadonlySet<string>;
    readonly replyTerms: ReadonlySet<string>;
  },
  scale: Scale,
): number {
  const common = remark.intersection(line.ask);
  const hasTopic = (terms: ReadonlySet<string>): boolean => [...terms].some(scale.isTopic);
  if (hasTopic(remark) && !hasTopic(common)) return 0;
  const total = (terms: ReadonlySet<string>): number => [...terms].reduce((sum, term) => sum + scale.weightOf(term), 0);
  const elsewhere = remark.difference(line.ask);
  const inRow = elsewhere.intersection(line.ownTerms);
  const inReply = new Set([...elsewhere.difference(line.ownTerms).intersection(line.replyTerms)].filter(scale.isTopic));
  const matched = total(common) + total(inRow) * rowShare + total(inReply) * replyShare;
  const remarkCover = matched / total(remark);
  const askCover = total(common) / total(line.ask);
  if (Math.min(remarkCover, askCover) < leastCover) return 0;
  const negation = remark.has('not') === line.ask.has('not') ? 1 : negationShare;
  return ((remarkCover + askCover) / 2) * negation;
}

/** Rare words weigh more than common ones; the character's own name is no topic, for it is mostly an address. */
function weighTerms(documents: readonly ReadonlySet<string>[], name: ReadonlySet<string>): Scale {
  const counts = new Map<string, number>();
  for (const terms of documents) for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  const isTopic = (term: string): boolean => !isFrame(term) && !name.has(term);
  return {
    isTopic,
    weightOf(term) {
      const count = counts.get(term) ?? 0;
      const rarity = Math.log(1 + (documents.length - count + 0.5) / (count + 0.5));
      return isTopic(term) ? rarity : rarity * frameShare;
    },
  };
}

/** The asks of each line, and what else people say instead of them, except where another line claims that. */
function withParaphrases(pairs: readonly DialoguePair[]): string[][] {
  const own = new Set(pairs.flatMap((pair) => pair.asks.map(remarkKey)));
  return pairs.map((pair) => [
    ...pair.asks,
    ...new Set(pair.asks.flatMap(paraphrasesOf).filter((ask) => !own.has(remarkKey(ask)))),
  ]);
}
