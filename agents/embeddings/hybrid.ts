import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CallOptions } from '../../voices/engine.ts';
import { searchedPart, searchTerms, topicTerms } from '../retrieval/words.ts';
import { openBm25, type Ranked } from '../retrieval/bm25.ts';
import type { Embedder } from './embedder.ts';
import { openEmbeddingIndex } from './embedding-index.ts';

/** Index of texts searchable by words, and by embedding once their embeddings are computed. */
export interface Hybrid {
  /** Computes the embedding of every text, once; rejects if the embedder fails. Searches do not wait for it. */
  prepare(embedder: Pick<Embedder, 'embed'>, options: CallOptions): Promise<void>;
  /** Searches only by words until the embeddings are ready, or if `point` (the query's embedding) is absent. */
  search(query: string, count: number, embedding?: Float32Array): readonly Ranked[];
}

/** Constant of reciprocal rank fusion (Cormack et al. 2009): the higher, the less the first ranks dominate. */
const fusionConstant = 60;
/** Embeddings indexed in one go, about a millisecond, before yielding to other sessions. */
const placedAtOnce = 128;
/** Depth of each ranking that is fused over the memories of a person. */
export const rankingDepth = 30;
/**
 * Depth of each ranking, by the number of texts wanted. Deeper, whatever both rankings have far down goes before the
 * first of one of them: in packs of 500 lines that cost a quarter of the finds (`test/bench/agents/recall-at-five.ts`).
 */
const depthPerWanted = 2;

/**
 * Joins BM25 (English stemmed, Chinese as single characters and pairs) and embedding similarity by reciprocal rank
 * fusion. `byTopic`: frame words find nothing, a query without a topic finds nothing at all, and embeddings only count
 * if they stand out; for texts that must not appear unless asked for.
 */
export function openHybrid(texts: readonly string[], { byTopic = false }: { readonly byTopic?: boolean } = {}): Hybrid {
  const rank = openBm25(texts.map((text) => [{ terms: searchTerms(text) }]));
  const nearest = openEmbeddingIndex();
  let prepared: Promise<void> | undefined;
  const place = async (embedder: Pick<Embedder, 'embed'>, options: CallOptions): Promise<void> => {
    for (const [index, embedding] of (await embedder.embed(texts, options)).entries()) {
      if (index % placedAtOnce === 0) await nextTurn();
      nearest.place(index, embedding);
    }
  };
  return {
    async prepare(embedder, options) {
      prepared ??= place(embedder, options).catch((fault: unknown) => {
        prepared = undefined;
        throw fault;
      });
      await prepared;
    },
    search(query, count, embedding) {
      const searched = searchedPart(query);
      const terms = byTopic ? topicTerms(searched) : searchTerms(searched);
      if (terms.length === 0) return [];
      if (embedding === undefined || nearest.size < texts.length) return rank(terms, count);
      const depth = depthPerWanted * count;
      return fuse([rank(terms, depth), nearest.search(embedding, depth, byTopic)]).slice(0, count);
    },
  };
}

/** Reciprocal rank fusion: items ranked high in several rankings come first. */
export function fuse(rankings: readonly (readonly Ranked[])[]): readonly Ranked[] {
  const scores = new Map<number, number>();
  for (const ranking of rankings) {
    for (const [place, { index }] of ranking.entries())
      scores.set(index, (scores.get(index) ?? 0) + 1 / (fusionConstant + place + 1));
  }
  return [...scores]
    .map(([index, score]): Ranked => ({ index, score }))
    .toSorted((left, right) => right.score - left.score || left.index - right.index);
}
