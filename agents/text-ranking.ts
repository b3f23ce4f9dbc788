import { openBm25, type Ranked } from './bm25.ts';
import { searchTerms } from './words.ts';

/** Ranks texts by what they share with a query, best first; texts that share nothing are not among them. */
export type RankTexts = (query: string, count: number) => readonly Ranked[];

/** BM25 over scenes, experiences, memories: any texts. English is stemmed, Chinese read by characters and pairs (`words.ts`). */
export function rankTexts(texts: readonly string[]): RankTexts {
  const rank = openBm25(texts.map((text) => [{ terms: searchTerms(text) }]));
  return (query, count) => rank(searchTerms(query), count);
}
