import { latencyComponents, type LatencyComponent, type Latency } from '../../session/contract/turn-timings.ts';
import { spreadOf, type Spread } from '../../../voices/dsp/statistics.ts';
import { latencyComponentNames } from '../../terminal/stage-names.ts';

/** Latency breakdowns of many turns: spread of each component and of the total, in milliseconds. */
export interface LatencySummary {
  /** Components that occurred in at least one turn. */
  readonly owners: Readonly<Partial<Record<LatencyComponent, Spread>>>;
  readonly total: Spread;
}

/** Summarizes turns; a component is counted only in the turns in which it occurred. */
export function summarizeLatency(turns: readonly Latency[]): LatencySummary {
  const spreads = latencyComponents.flatMap((owner): [LatencyComponent, Spread][] => {
    const samples = turns.flatMap((turn) => turn.owners[owner] ?? []);
    return samples.length === 0 ? [] : [[owner, spreadOf(samples)]];
  });
  return { owners: Object.fromEntries(spreads), total: spreadOf(turns.map((turn) => turn.total_ms)) };
}

/** Bar width that makes the table fit 80 columns. */
const barColumns = 34;

/** Formats the summary as a table in whole milliseconds, with a bar for every median. */
export function latencyTable(summary: LatencySummary): string {
  const whole = Math.max(1, summary.total.median);
  const rows = latencyComponents.flatMap((owner) => {
    const spread = summary.owners[owner];
    return spread === undefined ? [] : [row(latencyComponentNames[owner], spread, Math.min(1, spread.median / whole))];
  });
  const head = `${'ms'.padEnd(16)}${['n', 'median', 'p95', 'p99'].map((name) => cell(name)).join('')}`;
  return [head, ...rows, row('total', summary.total, 0)].join('\n');
}

function row(name: string, { n, median, p95, p99 }: Spread, share: number): string {
  const figures = [n, median, p95, p99].map((figure) => cell(figure.toFixed(0))).join('');
  return `${name.padEnd(16)}${figures}  ${'█'.repeat(Math.round(share * barColumns))}`.trimEnd();
}

function cell(text: string): string {
  return text.padStart(7);
}
