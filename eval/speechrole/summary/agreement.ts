import { kendall, leaveOneOutMse, pearson, residualMse, spearman } from '../../correlation.ts';
import { seededRandom, shuffled, bootstrapIntervals, mean, type Interval } from '../../statistics.ts';
import { metricKeys, metricShort, type MetricKey } from '../judging/metrics.ts';

/** One annotator's verdict on a pair of replies to the same dialogue. */
export interface HumanVerdict {
  readonly sample: string;
  readonly metric: MetricKey;
  readonly annotator: string;
  /** Result of the first system: 1 better, 0.5 equal, 0 worse. */
  readonly first: number;
}

/** The judge's scores of the same pair, each as a ratio to the reference. */
export interface JudgedRatios {
  readonly sample: string;
  readonly metric: MetricKey;
  readonly first: number;
  readonly second: number;
}

/** Agreement of judge and annotators on one metric. */
export interface MetricAgreement {
  readonly metric: string;
  /** Pairs with both human and judge scores. */
  readonly n: number;
  /** The paper's two numbers, as defined in appendix B. */
  readonly pearson: number | null;
  readonly mse: number | null;
  /** Bootstrap interval over dialogues. */
  readonly pearsonInterval: Interval;
  readonly spearman: number | null;
  readonly kendall: number | null;
  /** Rate at which the judge prefers the reply that people prefer; a tie on one side only counts half. */
  readonly accuracy: number | null;
  /** Leave-one-out MSE of the fitted line: an estimate of the MSE on new pairs. */
  readonly leaveOneOutMse: number | null;
  /** Mean correlation of each annotator with the average of the others: the upper bound for a judge. */
  readonly humanCeiling: number | null;
  /** Krippendorff's alpha of the annotators, interval scale. */
  readonly alpha: number | null;
  /** Permutation p-value: share of random permutations that correlate at least as well. */
  readonly chance: number | null;
}

/** Computes agreement by metric, and the mean of the columns as the paper's `Overall`. */
export function agreement(
  verdicts: readonly HumanVerdict[],
  ratios: readonly JudgedRatios[],
  options: { readonly seed: number; readonly resamples?: number },
): MetricAgreement[] {
  const rows = metricKeys.map((metric) => {
    const said = verdicts.filter((verdict) => verdict.metric === metric);
    const judged = new Map(ratios.filter((each) => each.metric === metric).map((each) => [each.sample, each]));
    return ofMetric(metricShort[metric], said, judged, options);
  });
  const known = rows.filter((row) => row.n > 0);
  const average = (value: (row: MetricAgreement) => number | null): number | null => {
    const values = known.map(value).filter((each) => each !== null);
    return values.length === known.length ? mean(values) : null;
  };
  return [
    ...rows,
    {
      metric: 'Overall',
      n: known.reduce((sum, row) => sum + row.n, 0),
      pearson: average((row) => row.pearson),
      mse: average((row) => row.mse),
      pearsonInterval: { low: null, high: null },
      spearman: average((row) => row.spearman),
      kendall: average((row) => row.kendall),
      accuracy: average((row) => row.accuracy),
      leaveOneOutMse: average((row) => row.leaveOneOutMse),
      humanCeiling: average((row) => row.humanCeiling),
      alpha: average((row) => row.alpha),
      chance: null,
    },
  ];
}

function ofMetric(
  metric: string,
  verdicts: readonly HumanVerdict[],
  judged: ReadonlyMap<string, JudgedRatios>,
  { seed, resamples = 2_000 }: { readonly seed: number; readonly resamples?: number },
): MetricAgreement {
  const bySample = Map.groupBy(verdicts, (verdict) => verdict.sample);
  const samples = [...bySample.keys()].filter((sample) => judged.has(sample)).toSorted();
  // One reply's gain is the other's loss, so the difference of their human scores is 2 × first − 1.
  const human = samples.map(
    (sample) => 2 * (mean((bySample.get(sample) ?? []).map((each) => each.first)) as number) - 1,
  );
  const judge = samples.map((sample) => {
    const { first, second } = judged.get(sample) as JudgedRatios;
    return first - second;
  });
  const [interval = { low: null, high: null }] = bootstrapIntervals(
    samples.length,
    (weights) => {
      const drawn = [...weights].flatMap((times, index) => Array.from({ length: times }, () => index));
      const of = (values: readonly number[]): number[] => drawn.map((index) => values[index] as number);
      return [pearson(of(human), of(judge)) ?? Number.NaN];
    },
    { seed, resamples },
  );
  return {
    metric,
    n: samples.length,
    pearson: pearson(human, judge),
    mse: residualMse(human, judge),
    pearsonInterval: interval,
    spearman: spearman(human, judge),
    kendall: kendall(human, judge),
    accuracy: mean(human.map((value, index) => rightness(Math.sign(value), Math.sign(judge[index] as number)))),
    leaveOneOutMse: leaveOneOutMse(human, judge),
    humanCeiling: ceilingOf(bySample),
    alpha: krippendorff([...bySample.values()].map((said) => said.map((each) => each.first))),
    chance: chanceOf(human, judge, { seed, times: resamples }),
  };
}

function rightness(human: number, judge: number): number {
  if (human === judge) return 1;
  return human === 0 || judge === 0 ? 0.5 : 0;
}

function ceilingOf(bySample: ReadonlyMap<string, readonly HumanVerdict[]>): number | null {
  const annotators = new Set([...bySample.values()].flat().map((each) => each.annotator));
  const correlations = [...annotators].map((annotator) => {
    const [own, others]: [number[], number[]] = [[], []];
    for (const said of bySample.values()) {
      const mine = said.find((each) => each.annotator === annotator);
      const rest = mean(said.filter((each) => each.annotator !== annotator).map((each) => each.first));
      if (mine === undefined || rest === null) continue;
      own.push(mine.first);
      others.push(rest);
    }
    return own.length < 2 ? null : pearson(own, others);
  });
  return mean(correlations.filter((value) => value !== null));
}

/** Krippendorff's alpha for interval data; units with a single value are skipped. Null if all values are equal. */
export function krippendorff(units: readonly (readonly number[])[]): number | null {
  const pairable = units.filter((unit) => unit.length > 1);
  const all = pairable.flat();
  const squares = (values: readonly number[]): number =>
    values.reduce((sum, a) => sum + values.reduce((inner, b) => inner + (a - b) ** 2, 0), 0);
  const expected = squares(all) / (all.length * (all.length - 1));
  if (!(expected > 0)) return null;
  const observed = pairable.reduce((sum, unit) => sum + squares(unit) / (unit.length - 1), 0) / all.length;
  return 1 - observed / expected;
}

function chanceOf(
  human: readonly number[],
  judge: readonly number[],
  how: { seed: number; times: number },
): number | null {
  const real = pearson(human, judge);
  if (real === null) return null;
  const random = seededRandom(how.seed);
  let asGood = 0;
  for (let time = 0; time < how.times; time += 1) {
    if ((pearson(shuffled(human, random), judge) ?? -1) >= real) asGood += 1;
  }
  return (asGood + 1) / (how.times + 1);
}
