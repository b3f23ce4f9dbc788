import { describe, expect, it } from 'vitest';
import { kendall, leaveOneOutMse, pearson, residualMse, spearman } from '../../eval/correlation.ts';
import { formatCsv, parseCsv } from '../../eval/csv.ts';
import { agreement, krippendorff } from '../../eval/speechrole/summary/agreement.ts';
import { holm } from '../../eval/statistics.ts';
import { mean } from '../../voices/dsp/statistics.ts';

/** Two annotators on three pairs: differences of human scores 1, 0, −1; of the judge's ratios 0.5, 0.2, −0.4. */
const verdicts = [
  ['s1', 1, 1],
  ['s2', 1, 0],
  ['s3', 0, 0],
].flatMap(([sample, ...said]) =>
  said.map((first, index) => ({
    sample: sample as string,
    metric: 'Speech_Fluency' as const,
    annotator: `p${index}`,
    first: first as number,
  })),
);
const ratios = [
  ['s1', 1.5, 1],
  ['s2', 1.2, 1],
  ['s3', 0.6, 1],
].map(([sample, first, second]) => ({
  sample: sample as string,
  metric: 'Speech_Fluency' as const,
  first: first as number,
  second: second as number,
}));

describe('agreement of judge and people', () => {
  it('agreement is what appendix B defines, on an example computed by hand', () => {
    const row = agreement(verdicts, ratios, { seed: 1, resamples: 200 }).find(({ metric }) => metric === 'SF');
    // Sxx = 2, Sxy = 0.9, Syy = 0.42: r = 0.9 / √0.84. The line is 0.1 + 0.45 d; it misses by −0.05, 0.1, −0.05.
    expect(row?.pearson).toBeCloseTo(0.9 / Math.sqrt(0.84), 12);
    expect(row?.mse).toBeCloseTo(0.005, 12);
    expect(row?.accuracy).toBeCloseTo((1 + 0.5 + 1) / 3, 12);
    expect(row?.alpha).toBeCloseTo(1 - 5 / 9, 12);
    expect(row?.spearman).toBeCloseTo(1, 12);
    expect(row?.n).toBe(3);
    // Three dialogues are too few for an interval.
    expect(row?.pearsonInterval).toEqual({ low: null, high: null });
  });

  it('the mean squared error is the variance that the correlation leaves', () => {
    const xs = [0.5, -1, 0, 0.25, 1, -0.5, 0.75];
    const ys = [0.4, -0.2, 0.3, -0.1, 0.9, -0.7, 0.2];
    const average = mean(ys);
    const variance = ys.reduce((sum, y) => sum + (y - average) ** 2, 0) / ys.length;
    const r = pearson(xs, ys) as number;
    expect(residualMse(xs, ys)).toBeCloseTo(variance * (1 - r * r), 12);
    expect(leaveOneOutMse(xs, ys)).toBeGreaterThan(residualMse(xs, ys) as number);
  });

  it('agreement is averaged over metrics as in Table 4', () => {
    const rows = agreement(
      [...verdicts, ...verdicts.map((each) => ({ ...each, metric: 'Speech_Naturalness' as const }))],
      [...ratios, ...ratios.map((each) => ({ ...each, metric: 'Speech_Naturalness' as const, first: each.first * 2 }))],
      { seed: 1, resamples: 50 },
    );
    const of = (metric: string): number => rows.find((row) => row.metric === metric)?.pearson as number;
    expect(of('Overall')).toBeCloseTo((of('SF') + of('SN')) / 2, 12);
    expect(rows.find(({ metric }) => metric === 'IA')).toMatchObject({ n: 0, pearson: null, mse: null });
  });

  it('ranks, ties and chance-corrected agreement are computed correctly', () => {
    expect(spearman([1, 2, 3, 4], [1, 3, 2, 4])).toBeCloseTo(0.8, 12);
    // One tie in x: 5 pairs count there, 6 in y; 4 agree, 1 differs.
    expect(kendall([1, 1, 2, 3], [1, 2, 3, 2.5])).toBeCloseTo((4 - 1) / Math.sqrt(5 * 6), 12);
    expect(
      krippendorff([
        [1, 1],
        [0, 0],
        [1, 0],
      ]),
    ).toBeCloseTo(1 - (5 * 1) / 9, 12);
    expect(
      krippendorff([
        [1, 1],
        [1, 1],
      ]),
    ).toBeNull();
    expect(pearson([1, 1, 1], [1, 2, 3])).toBeNull();
  });

  it('p values of several questions are corrected', () => {
    expect(holm([0.01, 0.04, null, 0.03])).toEqual([0.03, 0.06, null, 0.06]);
  });
});

describe('CSV', () => {
  it('CSV that was written is read back unchanged', () => {
    const rows = [
      { name: 'D_Artagnan, "musketeer"', text: 'two\nlines', value: '1.5' },
      { name: '胡桃', text: '', value: '' },
    ];
    expect(parseCsv(formatCsv(rows))).toEqual(rows);
    expect(parseCsv('\uFEFFa,b\r\n1,\r\n')).toEqual([{ a: '1', b: '' }]);
  });
});
