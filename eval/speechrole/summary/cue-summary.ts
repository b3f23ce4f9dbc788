import { cueScorerName, type MeasuredCue } from '../../cues/cue-scorer.ts';
import { bootstrapIntervals, mean } from '../../statistics.ts';
import type { RunView } from '../run-view.ts';

/** One measured value, aggregated over the dialogues of a language. */
export interface CueRow {
  /** Name such as `pitch.medianHz`. */
  readonly name: string;
  /** Description and unit. */
  readonly label: string;
  readonly language: 'en' | 'zh';
  readonly value: number | null;
  /** 95 % bootstrap interval over roles. */
  readonly low: number | null;
  readonly high: number | null;
  readonly n: number;
  /** Number of dialogues without a value, by reason. */
  readonly missing: Readonly<Record<string, number>>;
}

/** Aggregates the paralinguistic cues of a run. */
export function cueRows(view: RunView): CueRow[] {
  const rows: CueRow[] = [];
  for (const language of ['en', 'zh'] as const) {
    const found = new Map<string, { label: string; byRole: Map<string, number[]>; missing: Record<string, number> }>();
    for (const [id, facts] of view.facts) {
      if (facts.language !== language) continue;
      for (const [key, kept] of view.record.measured.get(id) ?? []) {
        if (!key.startsWith(`${cueScorerName}/`)) continue;
        const result = kept as MeasuredCue;
        for (const [name, value] of Object.entries(result.values)) {
          const full = `${key.slice(cueScorerName.length + 1)}.${name}`;
          const known = found.get(full) ?? {
            label: result.units[name] ?? full,
            byRole: new Map<string, number[]>(),
            missing: {},
          };
          found.set(full, known);
          const why = result.why ?? 'does not apply';
          if (value === null) known.missing[why] = (known.missing[why] ?? 0) + 1;
          else known.byRole.set(facts.role, [...(known.byRole.get(facts.role) ?? []), value]);
        }
      }
    }
    // Sorted, so that the order does not depend on which cue was measured first.
    for (const [name, { label, byRole, missing }] of [...found].toSorted(([a], [b]) => (a < b ? -1 : 1)))
      rows.push({ name, label, language, missing, ...estimate(byRole, view.config.seed) });
  }
  return rows;
}

function estimate(
  byRole: ReadonlyMap<string, readonly number[]>,
  seed: number,
): Pick<CueRow, 'value' | 'low' | 'high' | 'n'> {
  const clusters = [...byRole].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, values]) => values);
  const sums = clusters.map((values) => values.reduce((sum, value) => sum + value, 0));
  const [interval = { low: null, high: null }] = bootstrapIntervals(
    clusters.length,
    (weights) => {
      let [sum, count] = [0, 0];
      for (const [at, values] of clusters.entries()) {
        sum += (weights[at] as number) * (sums[at] as number);
        count += (weights[at] as number) * values.length;
      }
      return [sum / count];
    },
    { seed },
  );
  const all = clusters.flat();
  return { value: mean(all), ...interval, n: all.length };
}
