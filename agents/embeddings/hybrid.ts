import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CallOptions } from '../../voices/engine.ts';
import { openBm25, type Ranked } from '../retrieval/bm25.ts';
import type { Embedder } from './embedder.ts';
import { openNearest } from './nearest.ts';
import { searchTerms, topicTerms } from '../retrieval/words.ts';

/** Texts that can be searched by their words, and by their meaning once that is known. */
export interface Hybrid {
  /** Resolves when every text has its point, once; throws as the embedder does. Searches do not wait for it. */
  prepare(embedder: Pick<Embedder, 'embed'>, options: CallOptions): Promise<void>;
  /** By words alone until the points are there, and where `query` is no point. */
  search(query: string, count: number, point?: Float32Array): readonly Ranked[];
}

/** Cormack, Clarke and Büttcher 2009: how much the first places count more than the next. */
const fusionConstant = 60;
/** Points that are placed at a stretch, in about a millisecond: others talk meanwhile. */
const placedAtOnce = 128;
/** How deep each ranking is looked into. */
export const rankingDepth = 30;

/**
 * Joins BM25 (English stemmed, Chinese by characters and pairs) and nearness of meaning by reciprocal rank fusion. `byTopic`: words that
 * frame a remark find nothing, a remark without a topic nothing at all, and meaning only what stands out; for texts that are to stay away
 * where nothing asks for them.
 */
export function openHybrid(texts: readonly string[], { byTopic = false }: { readonly byTopic?: boolean } = {}): Hybrid {
  const rank = openBm25(texts.map((text) => [{ terms: searchTerms(text) }]));
  const nearest = openNearest();
  let prepared: Promise<void> | undefined;
  const place = async (embedder: Pick<Embedder, 'embed'>, options: CallOptions): Promise<void> => {
    for (const [index, point] of (await embedder.embed(texts, options)).entries()) {
      if (index % placedAtOnce === 0) await nextTurn();
      nearest.place(index, point);
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
    search(query, count, point) {
      const terms = byTopic ? topicTerms(query) : searchTerms(query);
      if (terms.length === 0) return [];
      if (point === undefined || nearest.size < texts.length) return rank(terms, count);
      return fuse([rank(terms, rankingDepth), nearest.search(point, rankingDepth, byTopic)]).slice(0, count);
    },
  };
}

/** Reciprocal rank fusion: what stands high in several rankings stands highest. */
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
