/** Distribution of a figure. */
export interface Spread {
  readonly n: number;
  readonly median: number;
  readonly p95: number;
  readonly p99: number;
}

/** Computes nearest-rank percentiles, rounded to hundredths; NaN if there are no samples. */
export function spreadOf(samples: readonly number[]): Spread {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (quantile: number): number => {
    const value = sorted[Math.min(sorted.length - 1, Math.ceil(quantile * sorted.length) - 1)] ?? Number.NaN;
    return Math.round(value * 100) / 100;
  };
  return { n: sorted.length, median: at(0.5), p95: at(0.95), p99: at(0.99) };
}
