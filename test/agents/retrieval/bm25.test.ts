import MiniSearch from 'minisearch';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openBm25 } from '../../../agents/retrieval/bm25.ts';
import { openHybrid } from '../../../agents/embeddings/hybrid.ts';
import { searchTerms } from '../../../agents/retrieval/words.ts';
import { loadCharacters } from '../../../characters/character.ts';

const packs = await loadCharacters(path.resolve(import.meta.dirname, '../../../characters'));

describe('BM25', () => {
  it('BM25 scores two fields of every line of every pack as MiniSearch does', () => {
    const lines = packs.flatMap((pack) => pack.lines);
    const peer = new MiniSearch<{ readonly id: number; readonly asks: string; readonly reply: string }>({
      fields: ['asks', 'reply'],
      tokenize: searchTerms,
      processTerm: (term) => term,
      searchOptions: { boost: { asks: 1, reply: 0.2 } },
    });
    peer.addAll(lines.map(({ asks, reply }, id) => ({ id, asks: asks.join(' '), reply })));
    const rank = openBm25(
      lines.map(({ asks, reply }) => [
        { terms: searchTerms(asks.join(' ')) },
        { terms: searchTerms(reply), boost: 0.2 },
      ]),
    );
    for (const query of ['Where is the white rabbit?', 'Tell me about your brother', '师父现在在哪里']) {
      const terms = [...new Set(searchTerms(query))];
      const found = rank(terms, 20);
      const theirs = peer.search(query, { tokenize: () => terms }).slice(0, 20);
      expect(found.map(({ score }) => score.toFixed(6))).toEqual(theirs.map(({ score }) => score.toFixed(6)));
    }
  });

  it('BM25 returns up to the requested number, the first of equals first, and nothing without a common term', () => {
    const rank = openHybrid(['red boat', 'red boat', 'red red boat', 'blue sky']);
    expect(rank.search('boat', 2).map(({ index }) => index)).toEqual([0, 1]);
    expect(rank.search('boat', 9)).toHaveLength(3);
    expect(rank.search('green', 9)).toEqual([]);
    expect(openHybrid([]).search('boat', 3)).toEqual([]);
  });

  it('BM25 queries do not affect each other', () => {
    const rank = openHybrid(['one two', 'two three']);
    const first = rank.search('two three', 2);
    rank.search('one', 2);
    expect(rank.search('two three', 2)).toEqual(first);
  });
});
