import { mean as meanOf } from '../voices/dsp/statistics.ts';

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

/** Draws of fewer clusters take too few values: of two, three. */
const leastClusters = 5;

/** Draws of fewer clusters give intervals that are too narrow. */
const enoughClusters = 10;

/** A note for tables whose intervals come from few clusters, such as 7 roles; none if there are enough, or no intervals. */
export function fewClustersNote(clusters: number, unit: string): string[] {
  if (clusters < leastClusters || clusters >= enoughClusters) return [];
  return [`Intervals come from only ${clusters} ${unit}: they are too narrow.`];
}

/**
 * Percentile bootstrap intervals by drawing whole clusters with replacement. `statistic` gets the number of times each
 * of `clusters` was drawn and returns one or more numbers, NaN if one is undefined. Fewer than `leastClusters` give no
 * interval.
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
  const rounds = clusters >= leastClusters ? resamples : 0;
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

/** Sum and number of the values of one cluster. */
export interface ClusterSum {
  readonly sum: number;
  readonly n: number;
}

/** Mean over all values of all clusters, with the interval of draws of whole clusters. */
export function clusteredMean(
  clusters: readonly ClusterSum[],
  options: BootstrapOptions,
): Interval & { readonly value: number | null; readonly n: number } {
  const meanBy = (weightOf: (at: number) => number): number => {
    let [sum, n] = [0, 0];
    for (const [at, cluster] of clusters.entries()) {
      sum += weightOf(at) * cluster.sum;
      n += weightOf(at) * cluster.n;
    }
    return sum / n;
  };
  const [interval = { low: null, high: null }] = bootstrapIntervals(
    clusters.length,
    (weights) => [meanBy((at) => weights[at] as number)],
    options,
  );
  const n = clusters.reduce((total, cluster) => total + cluster.n, 0);
  return { value: n === 0 ? null : meanBy(() => 1), n, ...interval };
}

/** Outcome of one system against another on a shared item. */
export interface Duel {
  /** Cluster of the item. */
  readonly group: string;
  readonly outcome: 'win' | 'tie' | 'loss';
}

/** Share of wins, where a tie is half a win, with the interval of draws of whole clusters. */
export function winRate(duels: readonly Duel[], options: BootstrapOptions): WinRate {
  const count = (outcome: Duel['outcome'], among = duels): number =>
    among.filter((duel) => duel.outcome === outcome).length;
  const clusters = [...Map.groupBy(duels, ({ group }) => group).values()].map((members) => ({
    sum: count('win', members) + count('tie', members) / 2,
    n: members.length,
  }));
  const { value, low, high } = clusteredMean(clusters, options);
  return { value, low, high, wins: count('win'), ties: count('tie'), losses: count('loss') };
}

export interface WinRate extends Interval {
  readonly value: number | null;
  readonly wins: number;
  readonly ties: number;
  readonly losses: number;
}

/** Standard error of the mean (SEM): the sample's standard deviation over √n; null below two values. */
export function standardError(values: readonly number[]): number | null {
  return values.length < 2 ? null : Math.sqrt(squaresOf(values) / (values.length - 1) / values.length);
}

/** Student's t test of two independent samples with pooled variance, two-sided. Null if t is undefined. */
export function tTest(
  a: readonly number[],
  b: readonly number[],
): { readonly t: number; readonly p: number; readonly degrees: number } | null {
  const degrees = a.length + b.length - 2;
  if (a.length === 0 || b.length === 0 || degrees < 1) return null;
  const variance = (squaresOf(a) + squaresOf(b)) / degrees;
  if (variance === 0) return null;
  const t = (meanOf(a) - meanOf(b)) / Math.sqrt(variance * (1 / a.length + 1 / b.length));
  return { t, p: 1 - shareWithin(Math.abs(t), degrees), degrees };
}

function squaresOf(values: readonly number[]): number {
  const middle = meanOf(values);
  return values.reduce((sum, value) => sum + (value - middle) ** 2, 0);
}

/** Share of Student's t distribution between −t and t, by its finite series for whole degrees of freedom. */
function shareWithin(t: number, degrees: number): number {
  const angle = Math.atan(t / Math.sqrt(degrees));
  const square = Math.cos(angle) ** 2;
  const isOdd = degrees % 2 === 1;
  let term = isOdd ? Math.cos(angle) : 1;
  let sum = degrees === 1 ? 0 : term;
  for (let at = isOdd ? 2 : 1; at <= degrees - 3; at += 2) {
    term *= (square * at) / (at + 1);
    sum += term;
  }
  return isOdd ? (2 / Math.PI) * (angle + Math.sin(angle) * sum) : Math.sin(angle) * sum;
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

/** Deterministic random numbers in [0, 1) for a seed (mulberry32, Tommy Ettinger 2017). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Returns a shuffled copy (Fisher–Yates). */
export function shuffled<Item>(items: readonly Item[], random: () => number): Item[] {
  const copy = [...items];
  for (let last = copy.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    [copy[last], copy[other]] = [copy[other] as Item, copy[last] as Item];
  }
  return copy;
}

/** Levenshtein distance: the least number of substitutions, insertions and deletions between two sequences. */
export function editDistance(from: ArrayLike<string>, to: ArrayLike<string>): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let at = 0; at < from.length; at += 1) {
    const next = [at + 1];
    for (let place = 0; place < to.length; place += 1) {
      const change = (row[place] as number) + (from[at] === to[place] ? 0 : 1);
      next.push(Math.min(change, (row[place + 1] as number) + 1, (next[place] as number) + 1));
    }
    row = next;
  }
  return row[to.length] as number;
}
