import { cueRows, type CueRow } from './cue-summary.ts';
import { quantile } from '../../statistics.ts';
import { categories, metricKeys } from '../judging/metrics.ts';
import { judgeHealth, type JudgeHealth } from '../judging/judge-health.ts';
import { runName, type RunView } from '../run-view.ts';
import { scoreRow, type ScoreRow } from './score-table.ts';
import { aggregate, overallOf, pairsOf, type JudgedSample } from '../judging/scores.ts';

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
  readonly n: number;
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
  readonly aggregation: string;
  readonly parser: string;
  readonly at: string;
  readonly samples: number;
  /** Number of dialogues answered by the system. */
  readonly answered: number;
  readonly groups: readonly SummaryGroup[];
  readonly byRole: readonly SummaryCells[];
  readonly byCategory: readonly SummaryCells[];
  readonly health: JudgeHealth;
  readonly waits: FirstAudioStats;
  readonly cues: readonly CueRow[];
  readonly spentDollars: number;
  readonly failures: Readonly<Record<string, number>>;
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
    return { label, language, n: chosen.length, values, overall: overallOf(values) };
  };
  const byRole = [...Map.groupBy(judged, (sample) => sample.role)].map(([role, chosen]) =>
    cells(role, chosen[0]?.language ?? 'en', chosen),
  );
  const known = [...categories, ...new Set(judged.map((sample) => sample.category ?? ''))];
  const byCategory = [...new Set(known)].flatMap((category) => {
    const chosen = judged.filter((sample) => (sample.category ?? '') === category);
    return chosen.length === 0 ? [] : [cells(category === '' ? 'no category' : category, 'both', chosen)];
  });
  return {
    name: runName(view),
    agent: config.agent,
    protocol: config.prompts === undefined ? config.protocol : `${config.protocol} with its own prompts`,
    judge: config.judge?.model ?? 'none',
    aggregation: config.aggregation,
    parser: config.parser,
    at: record.header.at,
    samples: judged.length,
    answered: record.outputs.size,
    groups,
    byRole,
    byCategory,
    health: judgeHealth(record, protocol, config.parser),
    waits: waitsOf(view),
    cues: cueRows(view),
    spentDollars: record.spentDollars,
    failures: Object.fromEntries(
      [...Map.groupBy(record.failures, (failure) => failure.code)].map(([code, of]) => [code, of.length]),
    ),
  };
}

function waitsOf(view: RunView): FirstAudioStats {
  const all = [...view.facts.keys()]
    .flatMap((sample) => view.outputOf(sample)?.answers ?? [])
    .flatMap(({ firstAudioMs }) => (firstAudioMs === null ? [] : [firstAudioMs]))
    .toSorted((a, b) => a - b);
  return { n: all.length, median: quantile(all, 0.5), p95: quantile(all, 0.95), all };
}
