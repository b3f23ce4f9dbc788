import { describe, expect, it } from 'vitest';
import { maxPhraseCharacters } from '../../../voices/limits.ts';
import { phrases } from '../../../voices/text/phrases.ts';
import { looksLikeDirection } from '../../../voices/text/stage-directions.ts';
import { charactersRead } from '../../fakes/character-count.ts';

async function* inDeltas(text: string, size: number): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
}

function cut(text: string, size = text.length): Promise<string[]> {
  return Array.fromAsync(phrases(inDeltas(text, size)));
}

const hostile: Readonly<Record<string, string>> = {
  'words after which no phrase may end': '%s%n%x ',
  'lone surrogates': '\u{d800}',
  'combining marks': '\u{301}',
  'Korean without spaces': '가',
  'exclamation marks': '!',
  quotes: '"',
  'stars before words': '*a ',
  brackets: '(',
  'tags that never close': '<a ',
  'spaces in brackets': '(A      ',
};

describe('hostile text that is spoken', () => {
  it.each(Object.entries(hostile))(
    'text of 20,000 times the same is cut into bounded phrases: %s',
    async (_, piece) => {
      const found = await cut(`Hello ${piece.repeat(20_000)}`);
      expect(Math.max(...found.map(({ length }) => length))).toBeLessThanOrEqual(maxPhraseCharacters + 4);
    },
  );

  it.each(Object.entries(hostile))('a text twice as long takes twice the work to cut: %s', async (_, piece) => {
    for (const size of [3, 100_000]) {
      const [once, twice] = [2_000, 4_000].map((count) => `Hello ${piece.repeat(count)}`);
      const work = await charactersRead(() => cut(once ?? '', size));
      expect(await charactersRead(() => cut(twice ?? '', size))).toBeLessThan(work * 2.3);
    }
  });

  it('a stage direction of spaces is read once, not once for each two of them', () => {
    expect(looksLikeDirection(`Mara ${' '.repeat(100_000)}x`, true)).toBe(false);
    expect(looksLikeDirection('The wolf slowly walks to the old door.', false)).toBe(false);
  });
});
