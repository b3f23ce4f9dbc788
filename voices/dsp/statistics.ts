/** Arithmetic mean; NaN if empty. */
export function mean(values: ArrayLike<number>): number {
  let sum = 0;
  for (let index = 0; index < values.length; index += 1) sum += values[index] as number;
  return sum / values.length;
}

/** The middle value, of an even number the upper of the two; NaN if empty. */
export function median(values: ArrayLike<number>): number {
  return Float64Array.from(values).sort()[values.length >> 1] ?? Number.NaN;
}

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
  const at = (share: number): number => {
    const value = sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
    return Math.round(value * 100) / 100;
  };
  return { n: sorted.length, median: at(0.5), p95: at(0.95), p99: at(0.99) };
}
