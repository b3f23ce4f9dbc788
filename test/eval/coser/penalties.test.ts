import { describe, expect, it } from 'vitest';
import { dimensions, penaltiesIn, penaltyScore } from '../../../eval/coser/penalties.ts';

const [consistency] = dimensions;

/** Severities, and messages of characters, of the twelve judgments that CoSER ships, with the scores it gives them. */
const shipped: readonly (readonly [rounds: number, score: number, severities: readonly number[]])[] = [
  [11, 66.5, [2, 3, 2, 3]],
  [11, 61.5, [3, 3, 3, 2]],
  [11, 41.5, [3, 4, 3, 5]],
  [11, 66.5, [3, 2, 2, 3]],
  [5, 72.5, [3, 2, 2]],
  [5, 37.5, [3, 4, 3, 4]],
  [5, 47.5, [3, 3, 2, 4]],
  [5, 82.5, [3, 2]],
  [13, 59.5, [4, 3, 2, 3]],
  [13, 59.5, [3, 2, 3, 4]],
  [13, 64.5, [3, 3, 2, 3]],
  [13, 89.5, [3, 3]],
];

function reply(...severities: readonly unknown[]): string {
  const flaws = severities.map((severity) => ({ instance: 'there', type: 'Storyline Consistency', severity }));
  return JSON.stringify({ 'Storyline Consistency': { flaws } });
}

describe('the penalties of a scene', () => {
  it('give the twelve scores that CoSER ships, and their means', () => {
    const scores = shipped.map(([rounds, , severities]) => penaltyScore(severities, rounds, 'coser'));
    expect(scores).toEqual(shipped.map(([, score]) => score));
    const cases = [0, 4, 8].map((at) => scores.slice(at, at + 4).reduce((sum, score) => sum + score / 4, 0));
    expect(cases).toEqual([59, 60, 68.25]);
    expect(cases.reduce((sum, score) => sum + score, 0) / 3).toBeCloseTo(62.416666666666664, 12);
  });

  it('give another score by the formula of the paper, which has no limits', () => {
    expect(penaltyScore([2, 3, 2, 3], 11, 'paper')).toBe(106.5);
    expect(penaltyScore([], 20, 'coser')).toBe(100);
    expect(penaltyScore([5, 5, 5, 5, 5], 0, 'coser')).toBe(0);
  });

  it('are read strictly as by the released code: only whole numbers count, of any size, and a missing one is 1', () => {
    const read = penaltiesIn(reply(2, '3', 2.5, 9, undefined), consistency, 'strict');
    expect(read?.severities).toEqual([2, 9, 1]);
  });

  it('are read tolerantly with numbers in texts, and kept on the scale', () => {
    const read = penaltiesIn(`Here it is:\n\`\`\`json\n${reply(2, '3', '4/5', 9, 0)}\n\`\`\``, consistency, 'tolerant');
    expect(read).toEqual({ severities: [2, 3, 4, 5, 1], clamped: 2 });
    const repeats = '{"flaws": [{"instance": "again", "type": "Repetition", "severity": 9}]}';
    expect(penaltiesIn(repeats, consistency, 'tolerant')).toEqual({ severities: [9], clamped: 0 });
    expect(penaltiesIn(repeats, consistency, 'strict')).toBeNull();
  });

  it('are null, and never none, if the reply cannot be read', () => {
    for (const text of ['', 'All is well.', reply('severe'), reply(3).slice(0, -9), '{"flaws": 3}'])
      expect(penaltiesIn(text, consistency, 'tolerant')).toBeNull();
    expect(penaltiesIn(reply(), consistency, 'tolerant')).toEqual({ severities: [], clamped: 0 });
  });
});
