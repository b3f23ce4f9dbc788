import { describe, expect, it } from 'vitest';
import { speakable } from '../../../voices/text/speakable.ts';

async function spoken(...deltas: readonly string[]): Promise<string> {
  async function* source(): AsyncGenerator<string> {
    yield* deltas;
  }
  return (await Array.fromAsync(speakable(source()))).join('');
}

describe('speakable text', () => {
  it.each([
    ['I am **very** glad, __truly__ ~~not~~ glad.', 'I am very glad, truly not glad.'],
    ['I *really* mean it, *sir*.', 'I really mean it, sir.'],
    ['# A title\n\nText.\n## Another\nMore.', 'A title\n\nText.\n\nAnother\nMore.'],
    ['- one\n- two\n* three\n1. four\n2) five', 'one\n\ntwo\n\nthree\n\nfour\n\nfive'],
    ['> quoted\n\n---\n\nEnd.', 'quoted\n\nEnd.'],
    ['See [the page](https://a.b/c?d=e) or https://www.foo.org/x.', 'See the page or foo.org.'],
    ['Use `code` here.\n```js\nlet x = 1;\n```\nDone.', 'Use code here.\n\nDone.'],
    ['<b>Bold</b> and <br/> tags, <a href="x">link</a>.', 'Bold and tags, link.'],
    ['Hi 😀! Thumbs 👍🏽 up, flag 🇫🇷, family 👨‍👩‍👧.', 'Hi! Thumbs up, flag, family.'],
    ['snake_case and \\*stars\\*', 'snake case and stars'],
    ['| a | b |', 'a b'],
  ])('markup is removed from %j', async (text, expected) => {
    expect(await spoken(text)).toBe(expected);
  });

  it.each([
    ['*bows deeply* Welcome.', 'Welcome.'],
    ['(smiles) Welcome, sir (bows).', 'Welcome, sir.'],
    ['[laughs] Ha! *He draws his sword.* On guard!', 'Ha! On guard!'],
    ['Well *sighs* so be it.', 'Well so be it.'],
    ['Come in. *in a low voice* Sit down. *softly* There.', 'Come in. Sit down. There.'],
    ['（拱手）俺老孙来也！*大笑* 看棒！【退场】', '俺老孙来也！看棒！'],
  ])('stage directions are removed from %j', async (text, expected) => {
    expect((await spoken(text)).replaceAll('！ ', '！')).toBe(expected);
  });

  it.each([
    'I was born (in Kentucky) in 1809.',
    'He died soon. (It was raining that day.) Then we left.',
    '长安（今西安）很大。',
    'If a < b and c > d, then 5 - 3 is 2.',
    'It costs $5.50 & up, 50% off, at #1 shop.',
    'Rock–paper—scissors… “yes”, ‘no’.',
    '42. That is the answer.',
    "It's -5 degrees; don't go (please).",
    'Mail me: a.b@c.org, or c/o Watson + Co.',
  ])('speakable text keeps %j', async (text) => {
    expect(await spoken(text)).toBe(text);
  });

  it('emphasised words at the start of a sentence are kept', async () => {
    expect(await spoken('*Never* say that. *Elementary*, my friend. *You never know.* Yes.')).toBe(
      'Never say that. Elementary, my friend. You never know. Yes.',
    );
  });

  it('white space is normalized', async () => {
    expect(await spoken('  One  two.\r\n\r\n\r\nThree \t four.  ')).toBe('One two.\n\nThree four.');
  });

  it('markup split over deltas is found', async () => {
    expect(await spoken('*bo', 'ws', '* I am *', '*so** glad (smi', 'les', ') today', '.')).toBe('I am so glad today.');
    expect(await spoken('Look \ud83d', '\ude00 here.')).toBe('Look here.');
  });

  it('an emoji is dropped whole wherever it is cut, even after the engine has optimized the code', async () => {
    const text = 'A line that is long enough to be sliced 👍 and goes on.';
    const at = text.indexOf('👍') + 1;
    const found = new Set<string>();
    for (let round = 0; round < 3000; round += 1) found.add(await spoken(text.slice(2, at), text.slice(at)));
    expect([...found]).toEqual(['line that is long enough to be sliced and goes on.']);
  });

  it('markup that is never closed is released at the end of the line or after a few hundred characters', async () => {
    expect(await spoken('This *never closes and [goes (on\nand on.')).toBe('This never closes and goes (on\nand on.');
    let given = 0;
    async function* source(): AsyncGenerator<string> {
      for (; given < 2000; given += 1) yield given === 0 ? '*' : 'word ';
    }
    for await (const text of speakable(source())) {
      expect(text.startsWith('word word')).toBe(true);
      break;
    }
    expect(given).toBeLessThan(60);
  });

  it('an unclosed code block and text that is only markup are not spoken', async () => {
    expect(await spoken('Done.\n```js\nlet x = 1;')).toBe('Done.');
    expect(await spoken('*bows* 😀 [laughs] ** __')).toBe('');
  });
});
