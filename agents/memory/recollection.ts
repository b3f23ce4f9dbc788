import MiniSearch from 'minisearch';
import { isFrame, searchTerms } from '../words.ts';

/** One memory as it is searched. */
export interface Memory {
  readonly id: string;
  readonly text: string;
  /** Unix time in milliseconds. */
  readonly atMs: number;
}

/** Terms of a remark that are looked for at most, the rarest first: common ones cost time and say little. */
const mostTerms = 6;
/** A term in more of the memories than this is common, where there are enough to tell. */
const commonShare = 0.1;
const fewMemories = 100;
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
  const counts = new Map<string, number>();
  const search = new MiniSearch<Memory>({
    fields: ['text'],
    storeFields: ['atMs'],
    tokenize: (text, field) => {
      const terms = searchTerms(text);
      if (field !== undefined) for (const term of new Set(terms)) counts.set(term, (counts.get(term) ?? 0) + 1);
      return terms;
    },
    processTerm: (term) => term,
  });
  const tellingTerms = (remark: string): string[] => {
    const rarest = [...new Set(searchTerms(remark))]
      .map((term) => ({ term, count: counts.get(term) ?? 0 }))
      .filter(({ term, count }) => count > 0 && !isFrame(term))
      .toSorted((left, right) => left.count - right.count);
    const most = Math.max(fewMemories, search.documentCount) * commonShare;
    return rarest
      .filter(({ count }, place) => place < mostTerms && (count <= most || place === 0))
      .map(({ term }) => term);
  };
  return {
    add: (memories) => search.addAll(memories),
    find(remark, nowMs) {
      const terms = tellingTerms(remark);
      if (terms.length === 0) return [];
      const hits = search.search(remark, { tokenize: () => terms });
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
