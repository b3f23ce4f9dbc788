import { quantile, bootstrapIntervals, fewClustersNote, mean } from '../../statistics.ts';
import { categories, metricKeys } from '../judging/metrics.ts';
import { judgeHealth, type JudgeHealth } from '../judging/judge-health.ts';
import type { Answer } from '../data/task.ts';
import { protocolLabel, runName, type RunView } from '../run-view.ts';
import { coverageText, scoreRow, type ScoreRow } from './score-table.ts';
import { aggregate, overallOf, pairsOf, type JudgedSample } from '../judging/scores.ts';
import { cueScorerName, type MeasuredCue } from '../../cues/cue-scorer.ts';

/** Scores of one subset of the dialogues. */
export interface SummaryGroup {
  /** Subset key, such as `en`, `zh/in`, `en/multi`. */
  readonly key: string;
  readonly label: string;
  readonly row: ScoreRow;
}

/** Heat-map row: overall score and metrics of a few dialogues, without intervals. */
export interface SummaryCells {
  readonly label: string;
  readonly language: 'en' | 'zh' | 'both';
  /** Scored and chosen dialogues. */
  readonly coverage: string;
  readonly values: readonly (number | null)[];
  readonly overall: number | null;
}

/** Distribution of the time to first audio, in milliseconds; `all` is sorted. */
export interface FirstAudioStats {
  readonly n: number;
  readonly median: number | null;
  readonly p95: number | null;
  readonly all: readonly number[];
}

/** All figures computed from a run. */
export interface RunSummary {
  readonly name: string;
  readonly agent: string;
  readonly protocol: string;
  readonly judge: string;
  /** True if the run names a passed check of this judge, or has no judge. */
  readonly isJudgeChecked: boolean;
  readonly aggregation: string;
  readonly parser: string;
  readonly at: string;
  readonly samples: number;
  /** Number of dialogues answered by the system. */
  readonly answered: number;
  /** Replies of fallbacks for the system's LLM, kept with `--allow-fallback`. */
  readonly fallbacks: number;
  /** Turns in which the system understood nothing. */
  readonly unheard: number;
  readonly groups: readonly SummaryGroup[];
  readonly byRole: readonly SummaryCells[];
  readonly byCategory: readonly SummaryCells[];
  readonly health: JudgeHealth;
  readonly waits: FirstAudioStats;
  readonly cues: readonly CueRow[];
  readonly spentDollars: number;
  /** Notes below the tables. */
  readonly notes: readonly string[];
  /** Number of failures and message of the first, by code. */
  readonly failures: Readonly<Record<string, { readonly count: number; readonly message: string }>>;
}

const parts: readonly (readonly [key: string, label: string, select: (sample: JudgedSample) => boolean])[] = [
  ['', '', () => true],
  ['/in', ', in-domain', (sample) => sample.domain === 'in'],
  ['/out', ', out-of-domain', (sample) => sample.domain === 'out'],
  ['/single', ', single turn', (sample) => sample.mode === 'single'],
  ['/multi', ', multi-turn', (sample) => sample.mode === 'multi'],
];

/** Computes all figures of a run; deterministic for a given log. */
export function summarizeRun(view: RunView): RunSummary {
  const { config, record, judged, protocol } = view;
  const options = { aggregation: config.aggregation, seed: config.seed };
  const groups = (['en', 'zh'] as const).flatMap((language) =>
    parts.flatMap(([key, label, select]): SummaryGroup[] => {
      const chosen = judged.filter((sample) => sample.language === language && select(sample));
      if (chosen.length === 0) return [];
      const name = `${language === 'en' ? 'English' : 'Chinese'}${label}`;
      return [{ key: `${language}${key}`, label: name, row: scoreRow(chosen, options) }];
    }),
  );
  const cells = (label: string, language: SummaryCells['language'], chosen: readonly JudgedSample[]): SummaryCells => {
    const values = metricKeys.map((metric) => aggregate(pairsOf(chosen, metric), config.aggregation));
    const n = Math.min(...metricKeys.map((metric) => pairsOf(chosen, metric).length));
    const coverage = coverageText({ overall: { n }, samples: chosen.length });
    return { label, language, coverage, values, overall: overallOf(values) };
  };
  const byRole = [...Map.groupBy(judged, (sample) => sample.role)].map(([role, chosen]) =>
    cells(role, chosen[0]?.language ?? 'en', chosen),
  );
  const known = [...categories, ...new Set(judged.map((sample) => sample.category ?? ''))];
  const byCategory = [...new Set(known)].flatMap((category) => {
    const chosen = judged.filter((sample) => (sample.category ?? '') === category);
    return chosen.length === 0 ? [] : [cells(category === '' ? 'no category' : category, 'both', chosen)];
  });
  const answers = [...view.facts.keys()].flatMap((sample) => view.outputOf(sample)?.answers ?? []);
  return {
    name: runName(view),
    agent: config.agent,
    protocol: protocolLabel(view),
    judge: config.judge?.model ?? 'none',
    isJudgeChecked: config.judge === undefined || config.judgeCheck !== undefined,
    aggregation: config.aggregation,
    parser: config.parser,
    at: record.header.at,
    samples: judged.length,
    answered: record.outputs.size,
    fallbacks: answers.filter(({ fallback }) => typeof fallback === 'string').length,
    unheard: answers.filter(({ heard, fallback }) => heard?.trim() === '' || fallback === 'script').length,
    groups,
    byRole,
    byCategory,
    health: judgeHealth(record, protocol, config.parser),
    waits: waitsOf(answers),
    cues: cueRows(view),
    spentDollars: record.spentDollars,
    notes: (['en', 'zh'] as const).flatMap((language) =>
      fewClustersNote(
        byRole.filter((row) => row.language === language).length,
        language === 'en' ? 'English roles' : 'Chinese roles',
      ),
    ),
    failures: Object.fromEntries(
      [...Map.groupBy(record.failures, (failure) => failure.code)].map(([code, of]) => [
        code,
        { count: of.length, message: of[0]?.message ?? '' },
      ]),
    ),
  };
}

function waitsOf(answers: readonly Answer[]): FirstAudioStats {
  const all = answers
    .flatMap(({ firstAudioMs }) => (firstAudioMs === null ? [] : [firstAudioMs]))
    .toSorted((a, b) => a - b);
  return { n: all.length, median: quantile(all, 0.5), p95: quantile(all, 0.95), all };
}

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
