import MiniSearch from 'minisearch';
import { isFrame, searchTerms } from '../words.ts';

/** One memory as it is searched. */
export interface Memory {
  readonly id: string;
  readonly text: string;
  /** Unix time in milliseconds. */
  readonly atMs: number;
}

/** What a frame word ("tell", "about") weighs beside a topic word. */
const frameShare = 0.4;
/** A memory of this age counts half of what a fresh one does, as far as age counts. */
const halfLifeMs = 30 * 24 * 3_600_000;
/** How much of a score age decides: the rest is how well it fits. */
const recencyShare = 0.25;

/** Memories that are searched by what is being said. */
export interface Recollection {
  add(memories: readonly Memory[]): void;
  /** Those that have a topic in common with a remark, the best first: by BM25, and the fresher of two that fit alike. */
  find(remark: string, nowMs: number): readonly string[];
}

/** Opens an empty index. Ids are never used again; what was deleted elsewhere may still be found. */
export function openRecollection(): Recollection {
  const search = new MiniSearch<Memory>({
    fields: ['text'],
    storeFields: ['atMs'],
    tokenize: searchTerms,
    processTerm: (term) => term,
    searchOptions: { boostTerm: (term) => (isFrame(term) ? frameShare : 1) },
  });
  return {
    add: (memories) => search.addAll(memories),
    find(remark, nowMs) {
      const hits = search.search(remark).filter(({ queryTerms }) => queryTerms.some((term) => !isFrame(term)));
      const best = hits[0]?.score ?? 1;
      return hits
        .map(({ id, score, atMs }) => {
          const recency = 2 ** (-Math.max(0, nowMs - Number(atMs)) / halfLifeMs);
          return { id: String(id), score: (1 - recencyShare) * (score / best) + recencyShare * recency };
        })
        .toSorted((left, right) => right.score - left.score)
        .map(({ id }) => id);
    },
  };
}
