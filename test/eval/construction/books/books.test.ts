import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { decodeText } from '../../../../eval/construction/books/decode.ts';
import { halfOf, piecesOf } from '../../../../eval/construction/books/halve.ts';
import { locate, locatePassage, sentencesOf } from '../../../../eval/construction/books/locate.ts';
import { fileNameOf, readBooks } from '../../../../eval/construction/books/read-books.ts';
import { isChineseHeading, isHeading, sectionsOf } from '../../../../eval/construction/books/sections.ts';
import { similarity } from '../../../../eval/construction/books/similarity.ts';
import { openScratch } from '../../scratch.ts';

describe('similarity', () => {
  it.each([
    ['The night was dark.', 'The night was very dark.', 0.8837],
    ['“Come in,” said he.', '"Come in," said he.', 0.8947],
    ['It was the best of times', 'A tale of two cities', 0.5],
    ['', '', 1],
  ])('of %j and %j is %d', (left, right, value) => {
    expect(similarity(left, right)).toBeCloseTo(value, 4);
  });
});

describe('a quote', () => {
  const sentences = sentencesOf('The night was very dark. “Come in,” said he. The end.\nThe night was very dark.');

  it('is found where it is similar enough, and at the first of equal places', () => {
    expect(locate(sentences, 'The night was dark.')).toBe(0);
    expect(locate(sentences, '"Come in," said he.')).toBe(1);
    expect(locate(sentences, 'A tale of two cities')).toBeUndefined();
  });

  it('gives a passage from the first sentence to the next occurrence of the last', () => {
    const text = 'One went. The end. Two came. The end. Three.';
    const found = locatePassage(text, sentencesOf(text), { first: 'Two came.', last: 'The end.' });
    expect(found).toEqual({ from: 19, to: 37, text: 'Two came. The end.' });
  });
});

describe('the halves of a line', () => {
  it.each([
    ['abc.defghij', 'abc.', 'defghij'],
    ['ab,cdefgh', 'ab,', 'cdefgh'],
    ['abcdef', 'abc', 'def'],
  ])('of %s are %s and %s', (line, left, right) => {
    expect([line.slice(0, halfOf(line)), line.slice(halfOf(line))]).toEqual([left, right]);
  });

  it('make up the text again, and keep within the limit', () => {
    const text = `${'word '.repeat(500)}\nshort\n${'x'.repeat(3_000)}`;
    const pieces = piecesOf(text, { from: 0, to: text.length }, 100);
    expect(pieces.map(({ from, to }) => text.slice(from, to)).join('')).toBe(text);
    expect(Math.max(...pieces.map(({ from, to }) => to - from))).toBeLessThanOrEqual(400);
  });
});

describe('a heading', () => {
  it.each([
    'Chapter 1',
    'CHAPTER XIV.',
    'Chapter One',
    'Prologue',
    'XII',
    '12',
    'Twenty-one',
    '# The Door',
    'Part II: The Sea',
    'Chapter 3 The House of Night',
    'Book The First',
  ])('is %s', (line) => expect(isHeading(line)).toBe(true));

  it.each([
    'Part of me wished to go',
    'He read the first chapter.',
    'Introduction to him was all that I asked of my old friend',
  ])('is not %s', (line) => expect(isHeading(line)).toBe(false));

  it.each(['第一回 甄士隐梦幻识通灵', '第12章', '　　第三十节　夜'])('in Chinese is %s', (line) =>
    expect(isChineseHeading(line)).toBe(true),
  );

  it.each(['他读到第三章', `第一章${'很长'.repeat(30)}`])('in Chinese is not %s', (line) =>
    expect(isChineseHeading(line)).toBe(false),
  );

  it('starts a section; a short one joins the next and keeps its own title', () => {
    const text = `Chapter 1\nshort\nChapter 2\n${'long '.repeat(30)}\nChapter 3\n${'long '.repeat(30)}\nChapter 4\nend`;
    const sections = sectionsOf(text, { isStart: isHeading, leastLength: 100 });
    expect(sections.map(({ title }) => title)).toEqual(['Chapter 1', 'Chapter 3']);
    expect(sections.map(({ from, to }) => text.slice(from, to)).join('')).toBe(text);
  });
});

describe('a text file', () => {
  const chinese = '　　第一回\n却说那人走到门前，只见里面有一个和尚，正在那里念经。';
  const gb18030 = Buffer.from([
    0xb5, 0xda, 0xd2, 0xbb, 0xbb, 0xd8, 0xa3, 0xac, 0xd5, 0xe2, 0xca, 0xc7, 0xce, 0xd2, 0xb5, 0xc4,
  ]);

  it.each([
    ['utf-8', Buffer.from(chinese), chinese],
    ['utf-8', Buffer.from(`\uFEFF${chinese}`), chinese],
    ['utf-16le', Buffer.from(`\uFEFF${chinese}`, 'utf16le'), chinese],
    ['utf-16be', Buffer.from(`\uFEFF${chinese}`, 'utf16le').swap16(), chinese],
    ['utf-16le', Buffer.from('Plain words without a mark.', 'utf16le'), 'Plain words without a mark.'],
    ['gb18030', gb18030, '第一回，这是我的'],
    ['windows-1252', Buffer.from('Déjà vu, naïve café', 'latin1'), 'Déjà vu, naïve café'],
    ['utf-8', Buffer.from('a\r\nb\rc'), 'a\nb\nc'],
  ])('in %s is decoded', (encoding, bytes, text) => {
    expect(decodeText(bytes)).toEqual({ text, encoding });
  });

  it('loses the header and licence of Project Gutenberg, and is named by its title', async () => {
    await using scratch = await openScratch();
    const file = path.join(scratch.path, 'pg1.txt');
    const end = '*** END OF THE PROJECT GUTENBERG EBOOK X ***\nlicence';
    await writeFile(
      file,
      `Title: A/B: C.\nAuthor: N. N.\n*** START OF THE PROJECT GUTENBERG EBOOK X ***\nStory.\n${end}`,
    );
    const books = await Array.fromAsync(readBooks(file));
    expect(books).toEqual([{ key: 'A-B_ C', title: 'A/B: C.', author: 'N. N.', text: 'Story.', file: 'pg1.txt' }]);
    expect(fileNameOf('St. Ives')).toBe('St Ives');
  });
});
