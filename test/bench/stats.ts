import { spreadOf, type Spread } from '../../server/terminal/spread.ts';

/** One line of a bench: what was measured, how often, and how it is spread. */
export interface BenchRow extends Spread {
  readonly bench: string;
  readonly metric: string;
  readonly unit: string;
}

/** Summarizes samples; percentiles by the nearest rank. */
export function summarize(bench: string, metric: string, unit: string, samples: readonly number[]): BenchRow {
  return { bench, metric, unit, ...spreadOf(samples) };
}

/** How many of some scripted cases came out right, with the 95 % interval of Wilson, which supposes independent cases. */
export interface BenchShare extends BenchRow {
  readonly unit: 'share';
  readonly failures: number;
  readonly share: number;
  readonly low: number;
  readonly high: number;
}

/** Counts what is true. */
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
    // One number; here as well, so that every line of a bench can be read alike.
    median: rounded,
    p95: rounded,
    p99: rounded,
    failures: n - right,
    share: rounded,
    low: round(low),
    high: round(high),
  };
}
