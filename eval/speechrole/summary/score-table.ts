import {
  bootstrapDraws,
  bootstrapIntervals,
  bootstrapP,
  holm,
  quantile,
  type BootstrapOptions,
} from '../../statistics.ts';
import { metricKeys, metricShort, type MetricKey } from '../judging/metrics.ts';
import { aggregate, overallOf, pairsOf, ratioOf, type Aggregation, type JudgedSample } from '../judging/scores.ts';
import { mean } from '../../../voices/dsp/statistics.ts';

/** A value with its interval and the counts behind it. */
export interface Estimate {
  readonly value: number | null;
  readonly low: number | null;
  readonly high: number | null;
  /** Scored dialogues. */
  readonly n: number;
  /** Judged, but no scores could be read. */
  readonly unscored: number;
  /** Not judged, because the system or the judge's server failed. */
  readonly failed: number;
}

/** One row of the paper's table, with further statistics. */
export interface ScoreRow {
  readonly metrics: Readonly<Record<MetricKey, Estimate>>;
  readonly overall: Estimate;
  readonly samples: number;
  /** Mean of test minus reference; then the test's wins, ties and losses over all metrics. */
  readonly difference: number | null;
  readonly wins: number;
  readonly ties: number;
  readonly losses: number;
  /** Judgments whose reference got 2 or less: a few of them can dominate a mean of ratios. */
  readonly lowReferences: number;
}

/**
 * Numerators and denominators of a mean or ratio by role and metric, so that a bootstrap draw of roles is scored
 * without visiting dialogues again.
 */
interface ClusterSums {
  readonly clusters: number;
  /** Numerators and denominators; metrics of one role are adjacent. */
  readonly over: Float64Array;
  readonly under: Float64Array;
}

/** Share of the chosen dialogues that must be scored; tables mark rows with less. */
const leastCoverage = 0.9;

/** Formats how many of the chosen dialogues have an overall score, marked if too few do. */
export function coverageText({
  overall,
  samples,
}: {
  readonly overall: Pick<Estimate, 'n'>;
  readonly samples: number;
}): string {
  return `${overall.n}/${samples}${overall.n < leastCoverage * samples ? ' †' : ''}`;
}

/** Explains the mark of `coverageText`. */
export const coverageNote = '† less than 90 % of the dialogues are scored';

/** Scores dialogues, with bootstrap intervals over roles. */
export function scoreRow(
  samples: readonly JudgedSample[],
  options: BootstrapOptions & { readonly aggregation: Aggregation },
): ScoreRow {
  const sums = clustersOf(samples, options.aggregation);
  const intervals = bootstrapIntervals(sums.clusters, (weights) => withOverall(valuesOf(sums, weights)), options);
  const values = metricKeys.map((metric) => aggregate(pairsOf(samples, metric), options.aggregation));
  const nothing = { low: null, high: null };
  const estimate = (metric: MetricKey, index: number): Estimate => ({
    value: values[index] ?? null,
    ...(intervals[index] ?? nothing),
    ...coverageOf(samples, metric),
  });
  const coverage = metricKeys.map((metric) => coverageOf(samples, metric));
  const pairs = metricKeys.flatMap((metric) => pairsOf(samples, metric));
  return {
    metrics: Object.fromEntries(
      metricKeys.map((metric, index) => [metric, estimate(metric, index)]),
    ) as ScoreRow['metrics'],
    overall: {
      value: overallOf(values),
      ...(intervals[metricKeys.length] ?? nothing),
      n: Math.min(...coverage.map(({ n }) => n)),
      unscored: coverage.reduce((sum, { unscored }) => sum + unscored, 0),
      failed: coverage.reduce((sum, { failed }) => sum + failed, 0),
    },
    samples: samples.length,
    difference:
      pairs.length === 0 ? null : pairs.reduce((sum, pair) => sum + pair.test - pair.reference, 0) / pairs.length,
    wins: pairs.filter((pair) => pair.test > pair.reference).length,
    ties: pairs.filter((pair) => pair.test === pair.reference).length,
    losses: pairs.filter((pair) => pair.test < pair.reference).length,
    lowReferences: pairs.filter((pair) => pair.reference <= 2).length,
  };
}

/** Difference of two runs in one metric, on the dialogues scored in both. */
export interface PairedDifference {
  /** `IA` … `KC`, or `Overall`. */
  readonly metric: string;
  readonly a: number | null;
  readonly b: number | null;
  /** Difference b − a. */
  readonly difference: number | null;
  readonly low: number | null;
  readonly high: number | null;
  /** Two-sided; Holm-corrected over the eight metrics, uncorrected for Overall. */
  readonly p: number | null;
  readonly n: number;
}

/** Compares two runs on shared dialogues with a paired bootstrap over roles. */
export function compareRuns(
  a: readonly JudgedSample[],
  b: readonly JudgedSample[],
  options: BootstrapOptions & { readonly aggregation: Aggregation },
): PairedDifference[] {
  const { inA, inB } = sharedOf(a, b);
  const roles = [...new Set(inA.map((sample) => sample.role))].toSorted();
  const sums = [clustersOf(inA, options.aggregation, roles), clustersOf(inB, options.aggregation, roles)];
  const both = (weights: Float64Array): readonly (readonly number[])[] =>
    sums.map((each) => withOverall(valuesOf(each, weights)));
  const differences = ([first = [], second = []]: readonly (readonly number[])[]): number[] =>
    first.map((value, index) => (second[index] as number) - value);
  const [valuesA = [], valuesB = []] = both(new Float64Array(roles.length).fill(1));
  const draws = bootstrapDraws(roles.length, (weights) => differences(both(weights)), options);
  const raw = draws.map(bootstrapP);
  const corrected = [...holm(raw.slice(0, metricKeys.length)), raw[metricKeys.length] ?? null];
  const known = (value: number | undefined): number | null =>
    value === undefined || Number.isNaN(value) ? null : value;
  return [...metricKeys.map((metric) => metricShort[metric]), 'Overall'].map((metric, index) => {
    const [first, second] = [known(valuesA[index]), known(valuesB[index])];
    const sorted = draws[index] ?? new Float64Array();
    const metricKey = metricKeys[index];
    return {
      metric,
      a: first,
      b: second,
      difference: first === null || second === null ? null : second - first,
      low: quantile(sorted, 0.025),
      high: quantile(sorted, 0.975),
      p: corrected[index] ?? null,
      n: metricKey === undefined ? inA.length : pairsOf(inA, metricKey).length,
    };
  });
}

/** Returns the dialogues in both runs, with only the metrics scored in both. */
function sharedOf(
  a: readonly JudgedSample[],
  b: readonly JudgedSample[],
): { readonly inA: JudgedSample[]; readonly inB: JudgedSample[] } {
  const others = new Map(b.map((sample) => [sample.id, sample]));
  const [inA, inB]: [JudgedSample[], JudgedSample[]] = [[], []];
  for (const sample of a.toSorted((x, y) => (x.id < y.id ? -1 : 1))) {
    const other = others.get(sample.id);
    if (other === undefined) continue;
    const shared = metricKeys.filter((metric) => sample.scores[metric] && other.scores[metric]);
    const only = (from: JudgedSample): JudgedSample => ({
      ...from,
      scores: Object.fromEntries(shared.map((metric) => [metric, from.scores[metric]])),
    });
    inA.push(only(sample));
    inB.push(only(other));
  }
  return { inA, inB };
}

function clustersOf(
  samples: readonly JudgedSample[],
  aggregation: Aggregation,
  order?: readonly string[],
): ClusterSums {
  const byRole = Map.groupBy(samples, (sample) => sample.role);
  const roles = order ?? [...byRole.keys()].toSorted();
  const width = metricKeys.length;
  const over = new Float64Array(roles.length * width);
  const under = new Float64Array(roles.length * width);
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  for (const [at, role] of roles.entries()) {
    for (const [index, metric] of metricKeys.entries()) {
      const pairs = pairsOf(byRole.get(role) ?? [], metric);
      const ratios = pairs.map(ratioOf).filter((ratio) => ratio !== null);
      const place = at * width + index;
      const isRatios = aggregation === 'mean-of-ratios';
      over[place] = sum(isRatios ? ratios : pairs.map((pair) => pair.test));
      under[place] = isRatios ? ratios.length : sum(pairs.map((pair) => pair.reference));
    }
  }
  return { clusters: roles.length, over, under };
}

function valuesOf({ clusters, over, under }: ClusterSums, weights: Float64Array): number[] {
  const width = metricKeys.length;
  const tops = new Float64Array(width);
  const bottoms = new Float64Array(width);
  for (let cluster = 0; cluster < clusters; cluster += 1) {
    const weight = weights[cluster] as number;
    if (weight === 0) continue;
    for (let metric = 0; metric < width; metric += 1) {
      const place = cluster * width + metric;
      tops[metric] = (tops[metric] as number) + weight * (over[place] as number);
      bottoms[metric] = (bottoms[metric] as number) + weight * (under[place] as number);
    }
  }
  return Array.from(tops, (top, metric) => (bottoms[metric] === 0 ? Number.NaN : top / (bottoms[metric] as number)));
}

function withOverall(values: readonly number[]): number[] {
  return [...values, mean(values)];
}

function coverageOf(samples: readonly JudgedSample[], metric: MetricKey): Pick<Estimate, 'n' | 'unscored' | 'failed'> {
  const all = samples.map((sample) => sample.scores[metric]);
  return {
    n: all.filter((pair) => pair !== null && pair !== undefined).length,
    unscored: all.filter((pair) => pair === null).length,
    failed: all.filter((pair) => pair === undefined).length,
  };
}
