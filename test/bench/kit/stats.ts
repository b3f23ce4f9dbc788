import { spreadOf, type Spread } from '../../../voices/dsp/statistics.ts';

/** One result of a bench: metric, number of samples, and distribution. */
export interface BenchRow extends Spread {
  readonly bench: string;
  readonly metric: string;
  readonly unit: string;
}

/** Summarizes samples; percentiles by the nearest rank. */
export function summarize(bench: string, metric: string, unit: string, samples: readonly number[]): BenchRow {
  return { bench, metric, unit, ...spreadOf(samples) };
}

/** Share of scripted cases that succeeded, with the 95 % Wilson interval, which assumes independent cases. */
export interface BenchShare extends BenchRow {
  readonly unit: 'share';
  readonly failures: number;
  readonly share: number;
  readonly low: number;
  readonly high: number;
}

/** Counts the cases that are true. */
export function shareOf(bench: string, metric: string, cases: readonly boolean[]): BenchShare {
  const n = cases.length;
  const right = cases.filter(Boolean).length;
  const share = right / n;
  const z = 1.96;
  const middle = (share + (z * z) / (2 * n)) / (1 + (z * z) / n);
  const reach = (z / (1 + (z * z) / n)) * Math.sqrt((share * (1 - share)) / n + (z * z) / (4 * n * n));
  const round = (value: number): number => Math.round(value * 1000) / 1000;
  const [low, high] = [Math.max(0, middle - reach), Math.min(1, middle + reach)];
  const rounded = round(share);
  return {
    bench,
    metric,
    unit: 'share',
    n,
    // A single number, repeated here so that all rows of a bench have the same fields.
    median: rounded,
    p95: rounded,
    p99: rounded,
    failures: n - right,
    share: rounded,
    low: round(low),
    high: round(high),
  };
}
