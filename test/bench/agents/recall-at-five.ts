import { openHybrid } from '../../../agents/embeddings/hybrid.ts';
import type { Embedder } from '../../../agents/embeddings/embedder.ts';
import type { Character } from '../../../characters/character.ts';

/**
 * Removes every fifth trigger of a pack from its line (if the line has others) and searches for the line by it: by
 * keywords, or with an embedder by keywords and embeddings together. Returns, for each trigger, whether its line is
 * among the first five.
 */
export async function recallAtFive(packs: readonly Character[], embedder?: Embedder): Promise<boolean[]> {
  const { signal } = new AbortController();
  const found: boolean[] = [];
  for (const { lines } of packs) {
    const held: { readonly ask: string; readonly row: number }[] = [];
    let asked = 0;
    const texts = lines.map(({ asks, reply }, row) => {
      const kept = asks.filter((ask, place) => {
        asked += 1;
        if (asked % 5 !== 0 || asks.length < 2 || (place === 0 && asks.length < 2)) return true;
        held.push({ ask, row });
        return false;
      });
      return [...kept, reply].join('\n');
    });
    const hybrid = openHybrid(texts);
    if (embedder !== undefined) await hybrid.prepare(embedder, { signal });
    const points =
      (await embedder?.embed(
        held.map(({ ask }) => ask),
        { signal },
      )) ?? [];
    for (const [place, { ask, row }] of held.entries()) {
      found.push(hybrid.search(ask, 5, points[place]).some(({ index }) => index === row));
    }
  }
  return found;
}
