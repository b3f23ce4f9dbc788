import { mean as meanOf } from '../voices/dsp/statistics.ts';
import { seededRandom } from './seeded-random.ts';

/** Confidence interval; nulls if there is too little data. */
export interface Interval {
  readonly low: number | null;
  readonly high: number | null;
}

export interface BootstrapOptions {
  /** Number of bootstrap resamples; 2000 by default. */
  readonly resamples?: number;
  readonly seed: number;
  /** Confidence level; 0.95 by default. */
  readonly level?: number;
}

/**
 * Percentile bootstrap intervals by drawing whole clusters with replacement. `statistic` gets the number of times each
 * of `clusters` was drawn and returns one or more numbers, NaN if one is undefined. A single cluster gives no interval.
 */
export function bootstrapIntervals(
  clusters: number,
  statistic: (weights: Float64Array) => readonly number[],
  options: BootstrapOptions,
): Interval[] {
  const draws = bootstrapDraws(clusters, statistic, options);
  const tail = (1 - (options.level ?? 0.95)) / 2;
  return draws.map((values) => ({ low: quantile(values, tail), high: quantile(values, 1 - tail) }));
}

/** Returns the draws behind `bootstrapIntervals`: for each number of the statistic, its sorted values. */
export function bootstrapDraws(
  clusters: number,
  statistic: (weights: Float64Array) => readonly number[],
  { resamples = 2_000, seed }: BootstrapOptions,
): Float64Array[] {
  const random = seededRandom(seed);
  const width = statistic(new Float64Array(clusters).fill(1)).length;
  const kept: number[][] = Array.from({ length: width }, () => []);
  const weights = new Float64Array(clusters);
  const rounds = clusters > 1 ? resamples : 0;
  for (let round = 0; round < rounds; round += 1) {
    weights.fill(0);
    for (let draw = 0; draw < clusters; draw += 1) {
      const chosen = Math.floor(random() * clusters);
      weights[chosen] = (weights[chosen] as number) + 1;
    }
    for (const [index, value] of statistic(weights).entries()) if (Number.isFinite(value)) kept[index]?.push(value);
  }
  return kept.map((values) => Float64Array.from(values).sort());
}

/** Quantile of sorted values with linear interpolation; null if empty. */
export function quantile(sorted: ArrayLike<number>, share: number): number | null {
  if (sorted.length === 0) return null;
  const place = share * (sorted.length - 1);
  const below = sorted[Math.floor(place)] as number;
  const above = sorted[Math.ceil(place)] as number;
  return below + (above - below) * (place - Math.floor(place));
}

/** Arithmetic mean; null if empty. */
export function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : meanOf(values);
}

/** Two-sided bootstrap p-value of a difference from 0, at least 2 / (draws + 1). Null if there are no draws. */
export function bootstrapP(sorted: Float64Array): number | null {
  if (sorted.length === 0) return null;
  let below = 0;
  let above = 0;
  for (const value of sorted) {
    if (value <= 0) below += 1;
    if (value >= 0) above += 1;
  }
  return Math.min(1, (2 * (Math.min(below, above) + 1)) / (sorted.length + 1));
}

/** Adjusts p-values for multiple comparisons (Holm 1979); nulls stay. */
export function holm(values: readonly (number | null)[]): (number | null)[] {
  const order = values
    .flatMap((value, index) => (value === null ? [] : [{ value, index }]))
    .toSorted((a, b) => a.value - b.value);
  const corrected = [...values];
  let least = 0;
  for (const [rank, { value, index }] of order.entries()) {
    least = Math.max(least, Math.min(1, value * (order.length - rank)));
    corrected[index] = least;
  }
  return corrected;
}
