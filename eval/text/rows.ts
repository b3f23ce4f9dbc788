import { bootstrapDraws, bootstrapIntervals, bootstrapP, quantile, standardError } from '../statistics.ts';
import type { Score } from '../task.ts';

/** A mean over scores of one name. */
export interface Metric {
  readonly key: string;
  readonly label: string;
  readonly help: string;
  /** Name of the scores, if it is not the key. */
  readonly from?: string;
  /** True if lower is better. */
  readonly isLower?: boolean;
  /** `groups`: the mean of the means of groups. Otherwise the mean of all items. */
  readonly by?: 'groups';
  /** Factor in tables, 1 by default. */
  readonly scale?: number;
  readonly digits?: number;
}

/** A figure computed from the means of a row; missing unless all that it needs are there. */
export interface Average {
  readonly key: string;
  readonly label: string;
  readonly help: string;
  readonly needs: readonly string[];
  of(values: readonly number[]): number;
  readonly scale?: number;
  readonly digits?: number;
}

/** Scores of one sample. */
export interface ScoredSample {
  readonly id: string;
  readonly group: string;
  readonly scores: readonly Score[];
}

/** One figure of a table. */
export interface Cell {
  readonly value: number | null;
  /** 95 % interval of draws of whole groups. */
  readonly low: number | null;
  readonly high: number | null;
  /** Standard error over items, or over groups; null for averages. */
  readonly sem: number | null;
  /** Scored items and chosen ones. */
  readonly n: number;
  readonly of: number;
}

interface Sums {
  readonly sum: Float64Array;
  readonly n: Float64Array;
}

/** Computes the cells of a row, metrics first, then averages. */
export function rowOf(
  samples: readonly ScoredSample[],
  { metrics, averages, seed }: RowOptions,
): ReadonlyMap<string, Cell> {
  const groups = [...new Set(samples.map(({ group }) => group))].toSorted();
  const values = metrics.map(({ key, from = key }) => valuesOf(samples, from));
  const sums = values.map((list) => sumsOf(list, groups));
  const all = new Float64Array(groups.length).fill(1);
  const estimates = (weights: Float64Array): number[] => figures(sums, weights, { metrics, averages });
  const intervals = bootstrapIntervals(groups.length, estimates, { seed });
  const found = estimates(all);
  const cells = new Map<string, Cell>();
  for (const [at, { key, by }] of metrics.entries()) {
    const list = values[at] ?? [];
    const scored = list.flatMap(({ value }) => (value === null ? [] : [value]));
    const units = by === 'groups' ? groupMeans(sums[at] as Sums) : scored;
    cells.set(key, {
      value: finite(found[at]),
      ...(intervals[at] ?? { low: null, high: null }),
      sem: standardError(units),
      n: scored.length,
      of: list.length,
    });
  }
  for (const [at, { key, needs }] of averages.entries()) {
    const parts = needs.map((need) => cells.get(need));
    cells.set(key, {
      value: finite(found[metrics.length + at]),
      ...(intervals[metrics.length + at] ?? { low: null, high: null }),
      sem: null,
      n: Math.min(...parts.map((part) => part?.n ?? 0)),
      of: Math.max(...parts.map((part) => part?.of ?? 0)),
    });
  }
  return cells;
}

export interface RowOptions {
  readonly metrics: readonly Metric[];
  readonly averages: readonly Average[];
  readonly seed: number;
}

interface GroupedValue {
  readonly group: string;
  readonly value: number | null;
}

function valuesOf(samples: readonly ScoredSample[], key: string): GroupedValue[] {
  return samples.flatMap(({ group, scores }) =>
    scores.flatMap(({ name, value }) => (name === key ? [{ group, value }] : [])),
  );
}

function sumsOf(values: readonly GroupedValue[], groups: readonly string[]): Sums {
  const places = new Map(groups.map((group, at) => [group, at]));
  const sums = { sum: new Float64Array(groups.length), n: new Float64Array(groups.length) };
  for (const { group, value } of values) {
    const at = places.get(group);
    if (value === null || at === undefined) continue;
    sums.sum[at] = (sums.sum[at] as number) + value;
    sums.n[at] = (sums.n[at] as number) + 1;
  }
  return sums;
}

function groupMeans({ sum, n }: Sums): number[] {
  return [...sum].flatMap((total, at) => ((n[at] as number) === 0 ? [] : [total / (n[at] as number)]));
}

/** Metrics, then averages, with each group as often as its weight says; NaN if undefined. */
function figures(
  sums: readonly Sums[],
  weights: Float64Array,
  { metrics, averages }: Pick<RowOptions, 'metrics' | 'averages'>,
): number[] {
  const means = sums.map(({ sum, n }, which) => {
    let [over, under] = [0, 0];
    for (let at = 0; at < weights.length; at += 1) {
      const [weight, count] = [weights[at] as number, n[at] as number];
      if (count === 0) continue;
      const byGroups = metrics[which]?.by === 'groups';
      over += weight * (byGroups ? (sum[at] as number) / count : (sum[at] as number));
      under += weight * (byGroups ? 1 : count);
    }
    return over / under;
  });
  const keyed = new Map(metrics.map(({ key }, at) => [key, means[at] ?? Number.NaN]));
  return [...means, ...averages.map((each) => each.of(each.needs.map((need) => keyed.get(need) ?? Number.NaN)))];
}

function finite(value: number | undefined): number | null {
  return value === undefined || !Number.isFinite(value) ? null : value;
}

/** Difference of two runs in one metric, over the items that both have scored. */
export interface Difference {
  readonly key: string;
  readonly a: number | null;
  readonly b: number | null;
  readonly difference: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly p: number | null;
  readonly n: number;
  /** Items in which b is better, equal, and worse. */
  readonly wins: number;
  readonly ties: number;
  readonly losses: number;
}

/** Compares the same items of two runs by a paired bootstrap over groups. */
export function differenceOf(
  a: readonly ScoredSample[],
  b: readonly ScoredSample[],
  { key: name, from: key = name, isLower = false }: Pick<Metric, 'key' | 'from' | 'isLower'>,
  seed: number,
): Difference {
  const others = new Map(b.map((sample) => [sample.id, namedValues(sample, key)]));
  const pairs = a.flatMap((sample) => {
    const theirs = others.get(sample.id) ?? [];
    return namedValues(sample, key).flatMap((value, at) => {
      const other = theirs[at];
      return value === null || other === null || other === undefined ? [] : [{ group: sample.group, value, other }];
    });
  });
  const groups = [...Map.groupBy(pairs, ({ group }) => group).values()];
  const sum = (list: typeof pairs): number => list.reduce((total, { value, other }) => total + other - value, 0);
  const sums = groups.map((list) => ({ sum: sum(list), n: list.length }));
  const [draws = new Float64Array()] = bootstrapDraws(
    groups.length,
    (weights) => {
      let [over, under] = [0, 0];
      for (const [at, each] of sums.entries()) {
        over += (weights[at] as number) * each.sum;
        under += (weights[at] as number) * each.n;
      }
      return [over / under];
    },
    { seed },
  );
  const n = pairs.length;
  const mean = (of: 'value' | 'other'): number | null =>
    n === 0 ? null : pairs.reduce((total, pair) => total + pair[of], 0) / n;
  const count = (sign: number): number =>
    pairs.filter(({ value, other }) => Math.sign(other - value) === (isLower ? -sign : sign)).length;
  return {
    key: name,
    a: mean('value'),
    b: mean('other'),
    difference: n === 0 ? null : sum(pairs) / n,
    low: quantile(draws, 0.025),
    high: quantile(draws, 0.975),
    p: bootstrapP(draws),
    n,
    wins: count(1),
    ties: pairs.filter(({ value, other }) => value === other).length,
    losses: count(-1),
  };
}

/** Values of a score in a sample, in order. */
export function namedValues({ scores }: Pick<ScoredSample, 'scores'>, key: string): (number | null)[] {
  return scores.flatMap(({ name, value }) => (name === key ? [value] : []));
}
