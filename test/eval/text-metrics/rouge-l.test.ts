import { describe, expect, it } from 'vitest';
import { rougeL } from '../../../eval/text-metrics/rouge-l.ts';
import { isChinese, tokenKinds, tokensOf } from '../../../eval/text-metrics/tokens.ts';

describe('ROUGE-L', () => {
  const [cat, mat] = ['the cat sat on the mat', 'the cat lay on a mat'];

  it('ROUGE-L gives the golden value of two English sentences', () => {
    expect(rougeL(cat, [mat], { tokens: 'words', references: 'max' })).toBeCloseTo(4 / 6, 12);
    expect(rougeL(cat, [mat], { tokens: 'alnum', references: 'max' })).toBeCloseTo(0.6667, 4);
  });

  it('ROUGE-L takes each Han character as a token, where `alnum` finds nothing and scores 0', () => {
    const [wukong, other] = ['俺老孙来也', '老孙去也'];
    // L 3, precision 0.6, recall 0.75.
    expect(rougeL(wukong, [other], { tokens: 'han', references: 'max' })).toBeCloseTo(0.6667, 4);
    expect(rougeL(wukong, [other], { tokens: 'alnum', references: 'max' })).toBe(0);
    expect(tokensOf('俺老孙, Monkey-King 2！', 'han')).toEqual(['俺', '老', '孙', 'monkey', 'king', '2']);
  });

  it('ROUGE-L of several references is the best, their mean or the first', () => {
    const references = ['i never ever lose', 'we seldom lose'];
    const of = (choice: 'max' | 'mean' | 'first', list = references) =>
      rougeL('i never lose', list, { tokens: 'words', references: choice });
    expect(of('max')).toBeCloseTo(0.8571, 4);
    expect(of('max', ['we seldom lose'])).toBeCloseTo(0.3333, 4);
    expect(of('mean')).toBeCloseTo((0.8571 + 0.3333) / 2, 4);
    expect(of('first', references.toReversed())).toBeCloseTo(0.3333, 4);
    expect(of('max', [])).toBeNull();
  });

  it('ROUGE-L by sets of words gives the golden value of the PyPI package', () => {
    expect(rougeL(cat, [mat], { tokens: 'set', references: 'max' })).toBeCloseTo(0.7273, 4);
    // Sentences are compared one with another, so their order does not matter.
    const [forth, back] = ['we won. they lost.', 'they lost. we won.'];
    expect(rougeL(forth, [back], { tokens: 'set', references: 'max' })).toBe(1);
    expect(rougeL(forth, [back], { tokens: 'words', references: 'max' })).toBe(0.5);
  });

  it.each([
    // Lengths of the three scenes that CoSER has released, and the values that it has released with them.
    [30, 689, 139, 0.072_463_765_322_090_46],
    [35, 498, 163, 0.105_900_147_570_201_6],
    [27, 626, 111, 0.073_270_011_009_980_4],
  ])('ROUGE-L by marks of %i common words of %i and %i is CoSER’s %d to the last digit', (common, ours, theirs, f) => {
    const text = (length: number, other: string): string =>
      Array.from({ length }, (_, at) => (at < common ? `both${at}` : `${other}${at}`)).join(' ');
    expect(rougeL(text(ours, 'a'), [text(theirs, 'b')], { tokens: 'marks', references: 'max' })).toBe(f);
  });

  it('marks cut behind question marks and marks of Chinese, as rouge-chinese does', () => {
    expect(tokensOf('"Why?" he said. (Who?)\n\nNo!', 'marks')).toEqual([
      '"Why?',
      '"',
      'he',
      'said.',
      '(Who?',
      ')',
      'No!',
    ]);
    expect(tokensOf('“Why?” he said', 'marks')).toEqual(['“Why?”', 'he', 'said']);
    expect(tokensOf('好。走……吧', 'marks')).toEqual(['好。', '走……', '吧']);
  });

  it('ROUGE-L keeps the case of `words` and ignores that of the others; an empty answer scores 0', () => {
    expect(rougeL('The End', ['the end'], { tokens: 'words', references: 'max' })).toBe(0);
    expect(rougeL('The End!', ['the end'], { tokens: 'alnum', references: 'max' })).toBe(1);
    for (const tokens of tokenKinds) expect(rougeL(' ', ['the end'], { tokens, references: 'max' })).toBe(0);
  });

  it('a text is Chinese from a tenth of Han characters on', () => {
    expect(isChinese('孙 abcdefgh')).toBe(true);
    expect(isChinese('孙 abcdefghi')).toBe(false);
    expect(isChinese('')).toBe(false);
  });
});
