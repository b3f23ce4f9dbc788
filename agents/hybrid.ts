import type { CallOptions } from '../voices/engine.ts';
import type { Ranked } from './bm25.ts';
import { likeness, type Embedder } from './embeddings/embedder.ts';
import { rankTexts } from './text-ranking.ts';

/** Texts that can be searched by their words, and by their meaning once that is known. */
export interface Hybrid {
  /** Resolves when every text has its point; throws as the embedder does. Searches do not wait for it. */
  prepare(options: CallOptions): Promise<void>;
  /** By words alone until the points are there, and where `query` is no point. */
  search(query: string, count: number, point?: Float32Array): readonly Ranked[];
}

/** Cormack, Clarke and Büttcher 2009: how much the first places count more than the next. */
const fusionConstant = 60;
/** How deep each ranking is looked into. */
const depth = 50;

/** Joins BM25 and nearness of meaning by reciprocal rank fusion: over lines, lorebook, scenes, experiences, memories. */
export function openHybrid(texts: readonly string[], embedder: Embedder | undefined): Hybrid {
  const rank = rankTexts(texts);
  let points: readonly Float32Array[] | undefined;
  return {
    async prepare(options) {
      if (embedder !== undefined) points ??= await embedder.embed(texts, options);
    },
    search(query, count, point) {
      if (points === undefined || point === undefined) return rank(query, count);
      const near = points
        .map((each, index): Ranked => ({ index, score: likeness(each, point) }))
        .toSorted((left, right) => right.score - left.score || left.index - right.index);
      return fuse([rank(query, depth), near.slice(0, depth)]).slice(0, count);
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
