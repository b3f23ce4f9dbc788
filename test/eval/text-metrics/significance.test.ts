import { describe, expect, it } from 'vitest';
import { clusteredMean, standardError, tTest, winRate } from '../../../eval/statistics.ts';

describe('means and their errors', () => {
  const [a, b] = [
    [0.8, 0.6, 1, 0.4],
    [0.5, 0.6, 0.7, 0.4],
  ] as const;

  it('the standard error gives the golden value', () => {
    expect(standardError(a)).toBeCloseTo(0.1291, 4);
    expect(standardError([0.7])).toBeNull();
  });

  it('the t test gives the golden value', () => {
    expect(tTest(a, b)).toMatchObject({ degrees: 6, t: expect.closeTo(1.0392, 4), p: expect.closeTo(0.3388, 4) });
    expect(tTest(b, a)?.p).toBe(tTest(a, b)?.p);
    expect(tTest([1, 1], [1, 1])).toBeNull();
    expect(tTest([1], [])).toBeNull();
  });

  it.each([
    // Critical values of tables.
    [1, 12.706, 0.05],
    [2, 4.303, 0.05],
    [3, 3.182, 0.05],
    [9, 3.25, 0.01],
    [30, 2.042, 0.05],
  ])('the t test with %i degrees of freedom and t = %f gives p = %f', (degrees, wanted, p) => {
    // Two samples, one of a single value, whose difference gives the wanted t.
    const spread = Array.from({ length: degrees + 1 }, (_, at) => (at === 0 ? 1 : at === 1 ? -1 : 0));
    const far = wanted * Math.sqrt((2 / degrees) * (1 + 1 / (degrees + 1)));
    expect(tTest([far], spread)).toMatchObject({ degrees, t: expect.closeTo(wanted, 6), p: expect.closeTo(p, 4) });
  });

  it('a mean over clusters has an interval from five clusters on', () => {
    const clusters = Array.from({ length: 5 }, (_, at) => ({ sum: at, n: 2 }));
    const all = clusteredMean(clusters, { seed: 1 });
    expect(all).toMatchObject({ value: 1, n: 10 });
    expect(all.low).toBeLessThan(1);
    expect(all.high).toBeGreaterThan(1);
    expect(clusteredMean(clusters.slice(1), { seed: 1 })).toMatchObject({ value: 1.25, low: null, high: null });
    expect(clusteredMean([], { seed: 1 })).toEqual({ value: null, n: 0, low: null, high: null });
  });

  it('a win rate counts a tie as half a win', () => {
    const outcomes = ['win', 'win', 'tie', 'loss'] as const;
    const duels = ['a', 'b', 'c', 'd', 'e'].flatMap((group) => outcomes.map((outcome) => ({ group, outcome })));
    expect(winRate(duels, { seed: 1 })).toEqual({
      value: 0.625,
      wins: 10,
      ties: 5,
      losses: 5,
      low: 0.625,
      high: 0.625,
    });
    expect(winRate([], { seed: 1 })).toMatchObject({ value: null, wins: 0 });
  });
});
