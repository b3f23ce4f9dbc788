import * as fc from '../../fakes/property.ts';
import { describe, expect, it } from 'vitest';
import { phrases } from '../../../voices/text/phrases.ts';
import { speakable } from '../../../voices/text/speakable.ts';

async function* inPieces(text: string, sizes: readonly number[]): AsyncGenerator<string> {
  let at = 0;
  for (const size of sizes) {
    yield text.slice(at, at + size);
    at += size;
  }
  yield text.slice(at);
}

function phrasesOf(text: string, sizes: readonly number[] = []): Promise<string[]> {
  return Array.fromAsync(phrases(inPieces(text, sizes)));
}

describe('phrases of English', () => {
  it('the first English phrase is a clause of a few words, later ones are whole sentences', async () => {
    const text = 'Well, my dear Watson, I think we should go. The game, as they say, is afoot. Come!';
    expect(await phrasesOf(text)).toEqual([
      'Well, my dear Watson, ',
      'I think we should go. ',
      'The game, as they say, is afoot. ',
      'Come!',
    ]);
  });

  it('the first English phrase is the first sentence if that is short', async () => {
    expect(await phrasesOf('No. I will not, and that is all.')).toEqual(['No. ', 'I will not, and that is all.']);
  });

  it('a long start without commas is cut before a word that opens a clause', async () => {
    const text = 'The quick brown fox that lived happily in the forest by the old mill near the river was tired.';
    const [first = '', second = ''] = await phrasesOf(text);
    expect(first + second).toBe(text);
    expect(first.trim().split(' ').length).toBeLessThanOrEqual(12);
    expect(second).toMatch(/^(?:that|in|by|was)/);
  });

  it.each([
    'Pi is 3.14 and the price is $5.50 for 1,000 at 10:30 today.',
    'Mr. Holmes and Dr. Watson met Mrs. Hudson near St. Mary.',
    'He read e.g. No. 5 and vol. 2 of the U.S. Army list.',
    'It was J. F. Kennedy and H. G. Wells and J. R. R. Tolkien.',
    'She rose at 6 a.m. Monday and met Prof. Moriarty there.',
    'Wait... what is it that you see there?',
    'He gave me an i.e. of sorts.',
  ])('a phrase keeps %j in one sentence', async (text) => {
    const lead = 'Yes. ';
    const found = await phrasesOf(lead + text);
    expect(found).toEqual([lead, text]);
  });

  it('a sentence end that only looks like an abbreviation ends the phrase', async () => {
    expect(await phrasesOf('No. I say no. So do I. Then go in 1815. Yes.')).toEqual([
      'No. ',
      'I say no. ',
      'So do I. ',
      'Then go in 1815. ',
      'Yes.',
    ]);
  });

  it('closing quotes and brackets stay with their sentence', async () => {
    expect(await phrasesOf('"Is it so?" he said. "Yes!" (I knew it.) “Quite.” ‘Good.’ End.')).toEqual([
      '"Is it so?" he said. ',
      '"Yes!" ',
      '(I knew it.) ',
      '“Quite.” ',
      '‘Good.’ ',
      'End.',
    ]);
  });

  it('a later sentence of more than two hundred characters is cut at a clause', async () => {
    const clause = 'and the ship went on over the dark and silent water, ';
    const found = await phrasesOf(`Listen! ${clause.repeat(8)}`);
    expect(found[0]).toBe('Listen! ');
    for (const phrase of found.slice(1)) {
      expect(phrase.length).toBeLessThanOrEqual(210);
      expect(phrase.trimEnd()).toMatch(/,$/);
    }
  });

  it('empty lines and list items end a phrase, and line breaks within a sentence do not', async () => {
    expect(await phrasesOf('Title here\n\nThe first line\ngoes on here. Then\n- one\n- two')).toEqual([
      'Title here\n\n',
      'The first line\ngoes on here. ',
      'Then\n\n',
      'one\n\n',
      'two',
    ]);
  });
});

describe('phrases of Chinese', () => {
  it('a Chinese phrase ends at a full stop without a space after it', async () => {
    expect(await phrasesOf('俺老孙来也！你这妖怪，吃俺老孙一棒！哈哈。')).toEqual([
      '俺老孙来也！',
      '你这妖怪，吃俺老孙一棒！',
      '哈哈。',
    ]);
  });

  it('the first Chinese phrase is a clause of a few characters', async () => {
    expect(await phrasesOf('五百年前，俺老孙大闹天宫，好不快活。走吧！')).toEqual([
      '五百年前，俺老孙大闹天宫，',
      '好不快活。',
      '走吧！',
    ]);
  });

  it('Chinese quotes, numbers and pauses stay in their sentence', async () => {
    expect(await phrasesOf('好。他说：“你是谁？”我……不知道，大约3.14吧。「来！」')).toEqual([
      '好。',
      '他说：“你是谁？”',
      '我……不知道，大约3.14吧。',
      '「来！」',
    ]);
  });

  it('a long Chinese start without punctuation is cut between two words', async () => {
    const text = '俺老孙五百年前大闹天宫的时候那些天兵天将一个个都不是俺的对手。';
    const found = await phrasesOf(text);
    expect(found.join('')).toBe(text);
    expect(found[0]?.length).toBeLessThanOrEqual(16);
    expect(found.length).toBe(2);
  });
});

describe('phrases of any text', () => {
  const pieces =
    'Hello| there|, |. |! |? |Dr. |3.14|"|“|”|...|…|\n|\n\n|- |1. |# |*bows*|**bold**|(smiles)|[laughs]|*|(|[|' +
    '[a](http://b.c/d)|https://x.org|`|```|~~|_|<b>|< |你好|，|。|！|（拱手）|😀|👍🏽|\\| |a|I |B. |—|--| - |----|12) ';
  const parts = fc.constantFrom('|', ...pieces.split('|'));
  const texts = fc.array(parts, { maxLength: 40 }).map((found) => found.join(''));
  const sizes = fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 60 });

  it('phrases are the same however the text was cut into deltas', async () => {
    await fc.assert(
      fc.asyncProperty(texts, sizes, async (text, cuts) => {
        expect(await phrasesOf(text, cuts)).toEqual(await phrasesOf(text));
        expect(
          await phrasesOf(
            text,
            Array.from(text, () => 1),
          ),
        ).toEqual(await phrasesOf(text));
      }),
      { numRuns: 500 },
    );
  });

  it('phrases are the same if the first character of each clause is announced before its text', async () => {
    async function* announced(text: string): AsyncGenerator<string | { readonly next: string }> {
      const clauses = text.split(/(?<=[.,!?;。，！？]\s*)(?=\p{L})/u);
      for (const [at, clause] of clauses.entries()) {
        yield clause;
        const next = String.fromCodePoint(clauses[at + 1]?.codePointAt(0) ?? 32);
        if (at + 1 < clauses.length) yield { next };
      }
    }
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        expect(await Array.fromAsync(phrases(announced(text)))).toEqual(await phrasesOf(text));
      }),
      { numRuns: 500 },
    );
  });

  it('phrases join to the speakable text', async () => {
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        const whole = (await Array.fromAsync(speakable(inPieces(text, [])))).join('');
        expect((await phrasesOf(text)).join('')).toBe(whole.trim() === '' ? '' : whole);
      }),
      { numRuns: 300 },
    );
  });

  it('phrases lose no word of a text without markup', async () => {
    const words = fc.array(
      fc.constantFrom('Well,', 'sir.', 'I', 'see!', 'Mr.', 'Fox', '5', 'times;', '你好。', 'then', '“so”', 'U.S.'),
    );
    await fc.assert(
      fc.asyncProperty(words, async (found) => {
        expect((await phrasesOf(found.join(' '))).join('')).toBe(found.join(' '));
      }),
    );
  });

  it('phrases are cut even if no sentence ever ends', async () => {
    const found = await phrasesOf('x'.repeat(5000));
    expect(found.join('')).toBe('x'.repeat(5000));
    expect(Math.max(...found.map((phrase) => phrase.length))).toBeLessThan(500);
  });

  it('a phrase is emitted as soon as the next character shows that it is complete', async () => {
    let given = '';
    async function* source(): AsyncGenerator<string> {
      for (const character of 'Good evening. Shall we?') {
        given += character;
        yield character;
      }
    }
    for await (const phrase of phrases(source())) {
      expect(phrase).toBe('Good evening. ');
      break;
    }
    expect(given).toBe('Good evening. S');
  });
});
