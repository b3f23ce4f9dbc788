import { isFrame, searchTerms } from '../../../agents/retrieval/words.ts';
import { unitOf, type Embedder } from '../../../agents/embeddings/embedder.ts';

const dimensions = 4_096;
/** Weight of a word that only frames a question ("tell me about"), relative to a topic word. */
const frameWeight = 0.2;

/**
 * Embeds texts by their words and all letter trigrams, hashed (like fastText, without training). It matches inflections
 * and misspellings, not meaning. Deterministic.
 */
export const trigramEmbedder: Embedder = {
  name: 'letters',
  model: 'letters',
  embed: async (texts) => texts.map(pointOf),
};

function pointOf(text: string): Float32Array {
  const point = Array.from({ length: dimensions }, () => 0);
  const add = (piece: string, weight: number): void => {
    const place = hashOf(piece) % dimensions;
    point[place] = (point[place] ?? 0) + weight;
  };
  for (const term of new Set(searchTerms(text))) {
    const weight = isFrame(term) ? frameWeight : 1;
    add(term, weight);
    const letters = Array.from(`<${term}>`);
    for (let at = 0; at + 3 <= letters.length; at += 1)
      add(letters.slice(at, at + 3).join(''), weight / letters.length);
  }
  return unitOf(point);
}

/** FNV-1a. */
function hashOf(text: string): number {
  return [...Buffer.from(text)].reduce((hash, byte) => Math.imul(hash ^ byte, 16_777_619) >>> 0, 2_166_136_261);
}
