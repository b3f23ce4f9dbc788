import { spreadOf, type Spread } from '../../server/cli/spread.ts';

/** One line of a bench: what was measured, how often, and how it is spread. */
export interface BenchRow extends Spread {
  readonly bench: string;
  readonly metric: string;
  readonly unit: string;
}

/** Summarizes samples; percentiles by the nearest rank. */
export function summarize(bench: string, metric: string, unit: string, samples: readonly number[]): BenchRow {
  return { bench, metric, unit, ...spreadOf(samples) };
}
