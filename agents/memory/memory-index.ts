import MiniSearch from 'minisearch';
import type { Ranked } from '../retrieval/bm25.ts';
import { searchedPart, searchTerms, topicTerms } from '../retrieval/words.ts';
import { openEmbeddingIndex } from '../embeddings/embedding-index.ts';
import { fuse, rankingDepth } from '../embeddings/hybrid.ts';

/** A memory to be indexed. */
export interface Memory {
  readonly id: string;
  readonly text: string;
  /** Unix time in milliseconds. */
  readonly atMs: number;
}

/** Most terms of a message searched for, the rarest first: common ones cost time and say little. */
const mostTerms = 6;
/** Share of memories above which a term is common, given at least `fewMemories`. */
const commonShare = 0.1;
const fewMemories = 100;
/** Half-life of the recency score. */
const halfLifeMs = 30 * 24 * 3_600_000;
/** Most memories found by embedding. */
const nearCount = 5;
/** Weight of recency in the score; the rest is relevance. */
const recencyShare = 0.25;

/** Search index of memories, for recall by the current message. */
export interface MemoryIndex {
  add(memories: readonly Memory[]): void;
  /** Sets the embedding of a memory that was added. */
  place(id: string, embedding: Float32Array): void;
  /** Ids of memories that share a topic with a message, best first: by BM25, `embedding` if given, and recency. */
  find(userMessage: string, nowMs: number, embedding?: Float32Array): readonly string[];
}

/** Opens an empty index. Ids are never reused; memories deleted elsewhere may still be found. */
export function openMemoryIndex(): MemoryIndex {
  const counts = new Map<string, number>();
  const known: Memory[] = [];
  const places = new Map<string, number>();
  const nearest = openEmbeddingIndex();
  const search = new MiniSearch<Memory>({
    fields: ['text'],
    tokenize: (text, field) => {
      const terms = searchTerms(text);
      if (field !== undefined) for (const term of new Set(terms)) counts.set(term, (counts.get(term) ?? 0) + 1);
      return terms;
    },
    processTerm: (term) => term,
  });
  const tellingTerms = (userMessage: string): string[] => {
    const rarest = [...new Set(topicTerms(userMessage))]
      .map((term) => ({ term, count: counts.get(term) ?? 0 }))
      .filter(({ count }) => count > 0)
      .toSorted((left, right) => left.count - right.count);
    const most = Math.max(fewMemories, search.documentCount) * commonShare;
    return rarest
      .filter(({ count }, place) => place < mostTerms && (count <= most || place === 0))
      .map(({ term }) => term);
  };
  const byWords = (userMessage: string): Ranked[] => {
    const terms = tellingTerms(userMessage);
    if (terms.length === 0) return [];
    const hits = search.search(userMessage, { tokenize: () => terms });
    return hits.map(({ id, score }) => ({ index: places.get(String(id)) ?? 0, score }));
  };
  return {
    add(memories) {
      for (const memory of memories) places.set(memory.id, known.push(memory) - 1);
      search.addAll(memories);
    },
    place(id, embedding) {
      const index = places.get(id);
      if (index !== undefined) nearest.place(index, embedding);
    },
    find(message, nowMs, embedding) {
      const userMessage = searchedPart(message);
      const hits = byWords(userMessage);
      const usesEmbedding = embedding !== undefined && topicTerms(userMessage).length > 0;
      const ranked = usesEmbedding
        ? fuse([hits.slice(0, rankingDepth), nearest.search(embedding, nearCount, true)])
        : hits;
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
