import type { RunRecord } from '../run-log.ts';
import { fewClustersNote, mean, quantile, standardError } from '../statistics.ts';
import type { TextConfig } from './config.ts';
import { textJudgeHealth, type TextJudgeHealth } from './judging.ts';
import { rowOf, type Cell } from './rows.ts';
import { promptsHash, textRunName, type TextRun } from './run.ts';
import { repeatKey, type SampleFacts, type TextTask } from './text-task.ts';

/** Figures of a part of the data. */
export interface SummaryRow {
  /** Key of the part, or name of a group. */
  readonly key: string;
  readonly label: string;
  readonly samples: number;
  readonly cells: Readonly<Record<string, Cell>>;
}

/** All figures of a run; the same log gives the same. */
export interface TextSummary {
  readonly task: string;
  readonly name: string;
  readonly agent: string;
  /** `text`, or `speech` if the system was asked and answered over the live speech path. */
  readonly path: 'text' | 'speech';
  readonly protocol: string;
  readonly judge: string;
  readonly isJudgeChecked: boolean;
  readonly parser: string;
  readonly at: string;
  readonly samples: number;
  readonly answered: number;
  /** Answers of fallbacks for the system's LLM, kept with `--allow-fallback`. */
  readonly fallbacks: number;
  /** Turns in which the system understood nothing. */
  readonly unheard: number;
  readonly rows: readonly SummaryRow[];
  /** Mean and deviation over the repeats of a run, by column; empty if every item was done once. */
  readonly overRepeats: Readonly<Record<string, OverRepeats>>;
  readonly byGroup: readonly SummaryRow[];
  readonly health: TextJudgeHealth;
  readonly firstAudio: { readonly n: number; readonly median: number | null; readonly p95: number | null };
  /** Missing scores by metric and reason. */
  readonly missing: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly spentDollars: number;
  readonly failures: FailuresByCode;
  readonly notes: readonly string[];
}

/** A figure over the repeats of a run. */
export interface OverRepeats {
  readonly mean: number | null;
  /** Sample standard deviation (n − 1) over repeats; null below two. */
  readonly deviation: number | null;
  /** Repeats with a figure. */
  readonly n: number;
}

/** Number of failures and message of the first, by code. */
export type FailuresByCode = Readonly<Record<string, { readonly count: number; readonly message: string }>>;

/** Counts what failed in a run. */
export function failuresByCode({ failures }: Pick<RunRecord, 'failures'>): FailuresByCode {
  const byCode = Map.groupBy(failures, ({ code }) => code);
  return Object.fromEntries(
    [...byCode].map(([code, of]) => [code, { count: of.length, message: of[0]?.message ?? '' }]),
  );
}

/** Computes all figures of a run. */
export function summarizeText<Config extends TextConfig, Facts extends SampleFacts, Output>(
  task: TextTask<Config, Facts, Output>,
  run: TextRun<Config, Facts, Output>,
): TextSummary {
  const { config, record, facts, scored } = run;
  const options = { metrics: task.metrics, averages: task.averages, seed: config.seed };
  const row = (key: string, label: string, has: (each: Facts) => boolean): SummaryRow[] => {
    const chosen = scored.filter(({ id }) => has(facts.get(id) as Facts));
    if (chosen.length === 0) return [];
    return [{ key, label, samples: chosen.length, cells: Object.fromEntries(rowOf(chosen, options)) }];
  };
  const rows = task.parts.flatMap((part) => row(part.key, part.label, (each) => part.has(each)));
  const groups = [...new Set(scored.map(({ group }) => group))];
  const answers = [...record.outputs.values()].flatMap((output) => task.answers(output as Output));
  const waits = answers.flatMap(({ firstAudioMs }) => (firstAudioMs === null ? [] : [firstAudioMs]));
  const sorted = waits.toSorted((a, b) => a - b);
  return {
    task: task.name,
    name: textRunName(run),
    agent: config.agent,
    path: config.speech ? 'speech' : 'text',
    protocol: protocolOf(task, run),
    judge: config.judge?.model ?? 'none',
    isJudgeChecked: config.judge === undefined || config.judgeCheck !== undefined,
    parser: config.parser,
    at: record.header.at,
    samples: facts.size,
    answered: record.outputs.size,
    fallbacks: answers.filter(({ fallback }) => fallback !== null).length,
    unheard: answers.filter(({ heard, fallback }) => heard?.trim() === '' || fallback === 'script').length,
    rows,
    overRepeats: overRepeats(rows),
    byGroup: groups.flatMap((group) => row(group, group, (each) => each.group === group)),
    health: textJudgeHealth(task, run),
    firstAudio: { n: sorted.length, median: quantile(sorted, 0.5), p95: quantile(sorted, 0.95) },
    missing: missingScores(run),
    spentDollars: record.spentDollars,
    failures: failuresByCode(record),
    notes: [...fewClustersNote(groups.length, 'roles or books'), ...(task.notes?.([...facts.values()], config) ?? [])],
  };
}

function overRepeats(rows: readonly SummaryRow[]): TextSummary['overRepeats'] {
  const repeats = rows.filter(({ key }) => key.startsWith(repeatKey));
  const columns = Object.keys(repeats[0]?.cells ?? {});
  return Object.fromEntries(
    columns.map((column) => {
      const values = repeats.flatMap(({ cells }) => cells[column]?.value ?? []);
      const error = standardError(values);
      const deviation = error === null ? null : error * Math.sqrt(values.length);
      return [column, { mean: mean(values), deviation, n: values.length }];
    }),
  );
}

/** Names the protocol of a run with the wording of its prompts, since other words are another measurement. */
export function protocolOf<Config extends TextConfig, Facts extends SampleFacts, Output>(
  task: TextTask<Config, Facts, Output>,
  { config, record }: TextRun<Config, Facts, Output>,
): string {
  const wording = config.prompts === undefined ? 'own wording' : (config.promptsName ?? 'prompts');
  const named = wording === 'official text' ? wording : `${wording} ${promptsHash(record.header.prompts)}`;
  return Object.keys(record.header.prompts).length === 0
    ? task.protocol(config)
    : `${task.protocol(config)} · ${named}`;
}

function missingScores({ scored }: Pick<TextRun<TextConfig, SampleFacts, unknown>, 'scored'>): TextSummary['missing'] {
  const counts: Record<string, Record<string, number>> = {};
  for (const { scores } of scored) {
    for (const { name, value, why = 'not measured' } of scores) {
      if (value !== null) continue;
      const known = (counts[name] ??= {});
      known[why] = (known[why] ?? 0) + 1;
    }
  }
  return counts;
}
