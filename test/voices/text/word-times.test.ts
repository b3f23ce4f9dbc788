import * as fc from '../../fakes/property.ts';
import { describe, expect, it } from 'vitest';
import { wordTimes } from '../../../voices/text/word-times.ts';

const speech = { startMs: 20, endMs: 3020 };

describe('word times', () => {
  it('word times fill the speech, and long words take longer', () => {
    const words = wordTimes('I extraordinarily go', speech);
    expect(words.map(({ text }) => text)).toEqual(['I', 'extraordinarily', 'go']);
    expect(words[0]?.startMs).toBe(20);
    expect(words.at(-1)?.endMs).toBeCloseTo(3020, 6);
    const lengths = words.map(({ startMs, endMs }) => endMs - startMs);
    expect(lengths[1]).toBeGreaterThan(2 * Math.max(lengths[0] ?? 0, lengths[2] ?? 0));
  });

  it('word times leave a pause after punctuation, a longer one after a sentence, none after an abbreviation', () => {
    const gapAfterFirst = (text: string): number => {
      const [first, second] = wordTimes(text, speech);
      return (second?.startMs ?? 0) - (first?.endMs ?? 0);
    };
    expect(gapAfterFirst('Well then go')).toBe(0);
    expect(gapAfterFirst('Dr. Watson came')).toBe(0);
    expect(gapAfterFirst('Well, then go')).toBeGreaterThan(50);
    expect(gapAfterFirst('Well — then go')).toBeGreaterThan(50);
    expect(gapAfterFirst('Well. Then go')).toBeGreaterThan(gapAfterFirst('Well, then go'));
  });

  it('word times count each Chinese character as a word, with adjacent marks', () => {
    expect(wordTimes('“你好，”Tom 说：3.14！', speech).map(({ text }) => text)).toEqual([
      '“你',
      '好，”',
      'Tom',
      '说：',
      '3.14！',
    ]);
  });

  it('word times keep apostrophes, hyphens, amounts and times of day within a word', () => {
    const text = "Don't pay well-known $5.50 at 10:30 (ever) “so”.";
    expect(wordTimes(text, speech).map((word) => word.text)).toEqual(text.split(' '));
  });

  it('word times respect measured pauses that match the punctuation', () => {
    const pauses = [{ startMs: 1000, endMs: 2000 }];
    const words = wordTimes('Come in, my friend', speech, { pauses });
    expect(words.map(({ startMs }) => startMs >= 2000)).toEqual([false, false, true, true]);
    expect(words[1]?.endMs).toBeCloseTo(1000, 6);
    expect(words[2]?.startMs).toBe(2000);
  });

  it('word times start at given marks and are estimated between them', () => {
    const marks = [
      { index: 0, atMs: 20 },
      { index: 8, atMs: 1500 },
    ];
    const words = wordTimes('one two three', speech, { marks });
    expect(words.map(({ startMs }) => Math.round(startMs))).toEqual([20, expect.any(Number), 1500]);
    expect(words[1]?.startMs).toBeGreaterThan(20);
    expect(words[1]?.endMs).toBeCloseTo(1500, 6);
  });

  it('word times are ordered within the speech and found in the text in order, for any input', () => {
    const texts = fc
      .array(fc.constantFrom('word', ' ', ', ', '. ', '你', '。', '…', '—', '“', '5.5', '😀', 'é', "'s"))
      .map((all) => all.join(''));
    const marks = fc.array(fc.record({ index: fc.nat(60), atMs: fc.nat(5000) }));
    const pauses = fc.array(fc.record({ startMs: fc.nat(3000), endMs: fc.nat(3000) }), { maxLength: 1 });
    fc.assert(
      fc.property(texts, marks, pauses, (text, someMarks, somePauses) => {
        const sortedMarks = someMarks.sort((a, b) => a.index - b.index);
        const inside = somePauses.filter(({ startMs, endMs }) => startMs > speech.startMs && endMs > startMs);
        for (const hints of [{}, { marks: sortedMarks }, { pauses: inside }]) {
          let cursor = 0;
          let lastMs = speech.startMs;
          for (const word of wordTimes(text, speech, hints)) {
            expect(word.startMs).toBeGreaterThanOrEqual(lastMs - 1e-6);
            expect(word.endMs).toBeGreaterThanOrEqual(word.startMs);
            lastMs = word.endMs;
            cursor = text.indexOf(word.text, cursor) + word.text.length;
            expect(cursor).toBeGreaterThanOrEqual(word.text.length);
          }
          expect(lastMs).toBeLessThanOrEqual(speech.endMs + 1e-6);
        }
      }),
    );
  });

  it('word times are empty without words', () => {
    expect(wordTimes('… — !', speech)).toEqual([]);
    expect(wordTimes('', speech)).toEqual([]);
  });
});
