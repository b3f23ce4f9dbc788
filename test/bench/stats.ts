/** One line of a bench: what was measured, how often, and how it is spread. */
export interface BenchRow {
  readonly bench: string;
  readonly metric: string;
  readonly unit: string;
  readonly n: number;
  readonly median: number;
  readonly p95: number;
  readonly p99: number;
}

/** Summarizes samples; percentiles by the nearest rank. */
export function summarize(bench: string, metric: string, unit: string, samples: readonly number[]): BenchRow {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (quantile: number): number =>
    sorted[Math.min(sorted.length - 1, Math.ceil(quantile * sorted.length) - 1)] ?? Number.NaN;
  const round = (value: number): number => Math.round(value * 100) / 100;
  return { bench, metric, unit, n: sorted.length, median: round(at(0.5)), p95: round(at(0.95)), p99: round(at(0.99)) };
}
