import { mean } from '../../statistics.ts';
import { metricKeys, type MetricKey } from './metrics.ts';

/**
 * A judge's scores of the system under test and of the reference, 1 to 10; fractional if several judgments were
 * averaged.
 */
export interface JudgedPair {
  readonly test: number;
  readonly reference: number;
}

/** All judgments of one dialogue. */
export interface JudgedSample {
  readonly id: string;
  readonly role: string;
  readonly language: 'en' | 'zh';
  readonly mode: 'single' | 'multi';
  readonly domain: 'in' | 'out';
  readonly category: string | null;
  /** Null: judged, but no scores could be read (unscored). Absent: not judged, because something failed. */
  readonly scores: Readonly<Partial<Record<MetricKey, JudgedPair | null>>>;
}

/**
 * `mean-of-ratios`: the mean of test / reference over dialogues, as in the paper's text. `ratio-of-sums`: the sum of
 * the test scores over the sum of the reference scores, which a single low reference cannot inflate.
 */
export type Aggregation = 'mean-of-ratios' | 'ratio-of-sums';

/** Returns test / reference; null if the reference score is not positive. */
export function ratioOf({ test, reference }: JudgedPair): number | null {
  return reference > 0 ? test / reference : null;
}

/** Aggregates one metric over dialogues; null if there are no scores. */
export function aggregate(pairs: readonly JudgedPair[], aggregation: Aggregation): number | null {
  if (aggregation === 'mean-of-ratios') return mean(pairs.map(ratioOf).filter((ratio) => ratio !== null));
  const reference = pairs.reduce((sum, pair) => sum + pair.reference, 0);
  return reference > 0 ? pairs.reduce((sum, pair) => sum + pair.test, 0) / reference : null;
}

/** Returns the scored pairs of a metric. */
export function pairsOf(samples: readonly JudgedSample[], metric: MetricKey): JudgedPair[] {
  return samples.map((sample) => sample.scores[metric]).filter((pair) => pair !== null && pair !== undefined);
}

/**
 * Returns the mean of the eight metrics; null unless all eight are known, because a missing metric must not count as an
 * average one.
 */
export function overallOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === metricKeys.length ? mean(known) : null;
}
