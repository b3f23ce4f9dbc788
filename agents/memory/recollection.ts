import MiniSearch from 'minisearch';
import type { Ranked } from '../retrieval/bm25.ts';
import { openNearest } from '../embeddings/nearest.ts';
import { fuse, rankingDepth } from '../embeddings/hybrid.ts';
import { searchTerms, topicTerms } from '../retrieval/words.ts';

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
/** Memories that meaning alone may bring. */
const nearCount = 5;
/** How much of a score age decides: the rest is how well it fits. */
const recencyShare = 0.25;

/** Memories that are searched by what is being said. */
export interface Recollection {
  add(memories: readonly Memory[]): void;
  /** Gives a memory that was added the point of its meaning. */
  place(id: string, point: Float32Array): void;
  /**
   * Those that have a topic in common with a remark, the best first: by BM25, with the remark's `point` fused with nearness of meaning,
   * and the fresher of two that fit alike.
   */
  find(remark: string, nowMs: number, point?: Float32Array): readonly string[];
}

/** Opens an empty index. Ids are never used again; what was deleted elsewhere may still be found. */
export function openRecollection(): Recollection {
  const counts = new Map<string, number>();
  const known: Memory[] = [];
  const places = new Map<string, number>();
  const nearest = openNearest();
  const search = new MiniSearch<Memory>({
    fields: ['text'],
    tokenize: (text, field) => {
      const terms = searchTerms(text);
      if (field !== undefined) for (const term of new Set(terms)) counts.set(term, (counts.get(term) ?? 0) + 1);
      return terms;
    },
    processTerm: (term) => term,
  });
  const tellingTerms = (remark: string): string[] => {
    const rarest = [...new Set(topicTerms(remark))]
      .map((term) => ({ term, count: counts.get(term) ?? 0 }))
      .filter(({ count }) => count > 0)
      .toSorted((left, right) => left.count - right.count);
    const most = Math.max(fewMemories, search.documentCount) * commonShare;
    return rarest
      .filter(({ count }, place) => place < mostTerms && (count <= most || place === 0))
      .map(({ term }) => term);
  };
  const byWords = (remark: string): Ranked[] => {
    const terms = tellingTerms(remark);
    if (terms.length === 0) return [];
    const hits = search.search(remark, { tokenize: () => terms });
    return hits.map(({ id, score }) => ({ index: places.get(String(id)) ?? 0, score }));
  };
  return {
    add(memories) {
      for (const memory of memories) places.set(memory.id, known.push(memory) - 1);
      search.addAll(memories);
    },
    place(id, point) {
      const index = places.get(id);
      if (index !== undefined) nearest.place(index, point);
    },
    find(remark, nowMs, point) {
      const hits = byWords(remark);
      const isByMeaning = point !== undefined && topicTerms(remark).length > 0;
      const ranked = isByMeaning ? fuse([hits.slice(0, rankingDepth), nearest.search(point, nearCount, true)]) : hits;
      const best = ranked[0]?.score ?? 1;
      return ranked
        .map(({ index, score }) => {
          const { id = '', atMs = 0 } = known[index] ?? {};
          const recency = 2 ** (-Math.max(0, nowMs - atMs) / halfLifeMs);
          return { id, score: (1 - recencyShare) * (score / best) + recencyShare * recency };
        })
        .toSorted((left, right) => right.score - left.score)
        .map(({ id }) => id);
    },
  };
}
