import { seededRandom } from './seeded-random.ts';

/** A range that holds the true value with the probability asked for; nulls where there is too little to tell. */
export interface Interval {
  readonly low: number | null;
  readonly high: number | null;
}

export interface BootstrapOptions {
  /** 2000 unless given. */
  readonly resamples?: number;
  readonly seed: number;
  /** 0.95 unless given. */
  readonly level?: number;
}

/**
 * Percentile intervals by drawing whole clusters with replacement. `statistic` gets how often each of `clusters` was drawn and
 * returns one or several numbers, NaN where one cannot be had. One cluster alone gives no interval.
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

/** The values behind `bootstrapIntervals`: for each number of the statistic its draws, sorted. */
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

/** Of sorted values, linear between neighbours; null of none. */
export function quantile(sorted: ArrayLike<number>, share: number): number | null {
  if (sorted.length === 0) return null;
  const place = share * (sorted.length - 1);
  const below = sorted[Math.floor(place)] as number;
  const above = sorted[Math.ceil(place)] as number;
  return below + (above - below) * (place - Math.floor(place));
}

/** Null of nothing. */
export function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Two-sided: how often a difference drawn by bootstrap lies beyond 0, at least one in the number of draws. Null of none. */
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

/** Corrects p values of several questions that were asked at once (Holm 1979); nulls stay. */
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
