import { table, tableInParts } from '../../server/terminal/table.ts';
import { printable, wrap } from '../../server/terminal/text.ts';
import { uncheckedNote, type Printed } from '../benchmark.ts';
import { holm, tTest } from '../statistics.ts';
import type { TextConfig } from './config.ts';
import { differenceOf, namedValues, type Average, type Cell, type Difference, type Metric } from './rows.ts';
import { textRunName, type TextRun } from './run.ts';
import { summarizeText, type SummaryRow, type TextSummary } from './summary.ts';
import type { PublishedTable, SampleFacts, TextTask } from './text-task.ts';

type Column = Metric | Average;

/** Columns of a benchmark's tables. */
export function columnsOf({
  metrics,
  averages,
}: {
  readonly metrics: readonly Metric[];
  readonly averages: readonly Average[];
}): readonly Column[] {
  return [...metrics, ...averages];
}

/** Formats a figure on the scale of its column; null as a dash. */
export function figureText(value: number | null | undefined, { scale = 1, digits = 4 }: Column): string {
  return value === null || value === undefined ? '–' : (value * scale).toFixed(digits);
}

/** Formats an interval or, if there are too few groups for one, a dash. */
export function rangeText({ low, high }: Pick<Cell, 'low' | 'high'>, column: Column): string {
  return low === null || high === null ? '–' : `${figureText(low, column)}–${figureText(high, column)}`;
}

/** Formats scored and chosen items, marked below 90 %. */
export function coverageOf({ n, of }: Pick<Cell, 'n' | 'of'>): string {
  return `${n}/${of}${n < 0.9 * of ? ' †' : ''}`;
}

/** Explains the mark of `coverageOf`. */
export const coverageNote = '† less than 90 % of the items are scored';

/** Formats one row of a run as a table: a line a figure, with its interval and its coverage. */
function rowText({ label, cells }: SummaryRow, columns: readonly Column[]): string {
  const lines = columns.map((column) => {
    const cell = cells[column.key];
    if (cell === undefined) return [column.label, '–', '–', '–', '0/0'];
    const scaled = cell.sem === null ? null : cell.sem;
    return [
      column.label,
      figureText(cell.value, column),
      rangeText(cell, column),
      figureText(scaled, column),
      coverageOf(cell),
    ];
  });
  return table([label, 'mean', '95 %', 'SEM', 'scored'], lines, { numbers: true });
}

/** Formats a run's scores for a terminal. */
export function textSummaryText(
  task: { readonly metrics: readonly Metric[]; readonly averages: readonly Average[] },
  summary: TextSummary,
): string {
  const { health, failures, missing, firstAudio } = summary;
  const columns = columnsOf(task);
  const lines = [
    `${summary.name}: ${summary.answered} of ${summary.samples} items answered, over ${summary.path}`,
    summary.fallbacks === 0 ? [] : `  ${summary.fallbacks} replies were fallbacks for the LLM of the system`,
    summary.unheard === 0 ? [] : `  ${summary.unheard} turns in which the system understood nothing`,
    `protocol ${summary.protocol}`,
    `judge ${summary.judge}, ${summary.parser} parser`,
    summary.isJudgeChecked ? [] : uncheckedNote,
    ...summary.rows.map((row) => `\n${rowText(row, columns)}`),
    ...repeatsText(summary, columns),
    summary.rows.some(({ cells }) => Object.values(cells).some((cell) => coverageOf(cell).endsWith('†')))
      ? coverageNote
      : [],
    '',
    ...Object.entries(missing).map(
      ([name, reasons]) =>
        `${name} is missing: ${Object.entries(reasons)
          .map(([why, count]) => `${count} × ${why}`)
          .join(', ')}`,
    ),
    summary.judge === 'none'
      ? []
      : [
          `judge: ${health.asked} questions answered, ${health.repeated} asked again`,
          `  ${health.readable} readable, ${health.unreadable} unreadable, ${health.refused} refused, ${health.failed} failed`,
        ],
    firstAudio.n === 0
      ? []
      : `first audio: ${firstAudio.median?.toFixed(0)} ms (median), ${firstAudio.p95?.toFixed(0)} ms (p95), n ${firstAudio.n}`,
    ...Object.entries(failures).map(([code, { count, message }]) => printable(`failed ${count} × ${code}: ${message}`)),
    ...summary.notes,
  ].flat();
  return lines.join('\n').trimEnd();
}

function repeatsText({ overRepeats }: TextSummary, columns: readonly Column[]): string[] {
  const known = columns.filter(({ key }) => (overRepeats[key]?.n ?? 0) > 0);
  if (known.length === 0) return [];
  const rows = known.map((column) => {
    const { mean = null, deviation = null, n = 0 } = overRepeats[column.key] ?? {};
    return [column.label, figureText(mean, column), figureText(deviation, column), String(n)];
  });
  return [`\n${table(['Over repeats', 'mean', 'deviation', 'repeats'], rows, { numbers: true })}`];
}

/** A run, or a paper's row, in a table of its protocol and judge. */
export interface BoardRow {
  readonly heading: string;
  readonly system: string;
  readonly values: Readonly<Record<string, number | null>>;
  readonly coverage: string;
  readonly isChecked: boolean;
  /** `paper`, or the run's folder. */
  readonly source: string;
}

/** The papers' rows and those of the runs, in one table for each way of judging. */
export function textLeaderboard<Config extends TextConfig, Facts extends SampleFacts, Output>(
  task: TextTask<Config, Facts, Output>,
  runs: readonly TextRun<Config, Facts, Output>[],
): Printed {
  const columns = columnsOf(task);
  const rows = [
    ...task.published.flatMap((each) => paperRows(task, each)),
    ...runs.flatMap((run) => runRows(task, run)),
  ];
  const tables = [...Map.groupBy(rows, ({ heading }) => heading)].map(([heading, members]) => {
    const shown = columns.filter(({ key }) => members.some(({ values }) => typeof values[key] === 'number'));
    const ranks = ranksOf(task, members);
    const body = members.map(({ system, values, coverage, source }, at) => [
      source === 'paper' ? system : `▸ ${system}`,
      ...(ranks === null ? [] : [ranks[at] ?? '']),
      ...shown.map((column) => figureText(values[column.key], column)),
      coverage,
    ]);
    const note = members.some(({ coverage }) => coverage.endsWith('†')) ? `\n${coverageNote}` : '';
    const unchecked = members.some(({ isChecked }) => !isChecked) ? `\n${uncheckedNote}` : '';
    const head = ['', ...(ranks === null ? [] : ['rank']), ...shown.map(({ label }) => label), 'scored'];
    return `${wrap(heading, 0, process.stdout.columns ?? Infinity)}${unchecked}\n${tableInParts(head, body, { numbers: true })}${note}\n`;
  });
  return {
    json: rows,
    text: [...tables, 'Rows without ▸ are a paper’s. Each judge and protocol has its own table.'].join('\n'),
  };
}

/** Rank of each row in its table, equal figures with the same one; null if nothing ranks them. */
function ranksOf(
  { rankedBy = [] }: { readonly rankedBy?: readonly string[] },
  rows: readonly BoardRow[],
): readonly string[] | null {
  const key = rankedBy.find((each) => rows.some(({ values }) => typeof values[each] === 'number'));
  if (key === undefined || rows.length < 2) return null;
  const figures = rows.map(({ values }) => values[key] ?? null);
  return figures.map((figure) =>
    figure === null ? '–' : String(1 + figures.filter((other) => other !== null && other > figure).length),
  );
}

function paperRows<Config extends TextConfig, Facts extends SampleFacts, Output>(
  { parts }: TextTask<Config, Facts, Output>,
  { table: name, source, protocol, judge, part, rows }: PublishedTable,
): BoardRow[] {
  const label = parts.find(({ key }) => key === part)?.label ?? part;
  const heading = `${label} · ${source}, ${name} · ${protocol} · judge ${judge}`;
  return rows.map(({ system, values }) => ({
    heading,
    system,
    values,
    coverage: '',
    isChecked: true,
    source: 'paper',
  }));
}

function runRows<Config extends TextConfig, Facts extends SampleFacts, Output>(
  task: TextTask<Config, Facts, Output>,
  run: TextRun<Config, Facts, Output>,
): BoardRow[] {
  const { rows, protocol, judge, isJudgeChecked, name, path } = summarizeText(task, run);
  return rows.map(({ label, cells }) => ({
    heading: `${label} · protocol ${protocol} · judge ${judge}`,
    system: `${name} (${path})`,
    values: Object.fromEntries(Object.entries(cells).map(([key, { value }]) => [key, value])),
    coverage: worstCoverage(Object.values(cells)),
    isChecked: isJudgeChecked,
    source: run.folder,
  }));
}

function worstCoverage(cells: readonly Cell[]): string {
  const chosen = cells.filter(({ of }) => of > 0);
  const [worst] = chosen.toSorted((a, b) => a.n / a.of - b.n / b.of);
  return worst === undefined ? '' : coverageOf(worst);
}

/** Compares the same items of two runs; p values after Holm, and the papers' t test beside. */
export function compareTextRuns<Config extends TextConfig, Facts extends SampleFacts, Output>(
  task: TextTask<Config, Facts, Output>,
  a: TextRun<Config, Facts, Output>,
  b: TextRun<Config, Facts, Output>,
): Printed {
  const raw = task.metrics.map((metric) => differenceOf(a.scored, b.scored, metric, a.config.seed));
  const corrected = holm(raw.map(({ p }) => p));
  const differences = raw.map((each, at): Difference & { readonly t: ReturnType<typeof tTest> } => {
    const of = (run: typeof a): number[] =>
      run.scored.flatMap((sample) => namedValues(sample, each.key)).filter((value) => value !== null);
    return { ...each, p: corrected[at] ?? null, t: tTest(of(a), of(b)) };
  });
  const body = differences.map(({ p, n, wins, ties, losses, t, ...each }, at) => {
    const column = task.metrics[at] as Metric;
    return [
      column.label,
      figureText(each.a, column),
      figureText(each.b, column),
      figureText(each.difference, column),
      rangeText(each, column),
      probabilityText(p),
      probabilityText(t?.p ?? null),
      `${wins}/${ties}/${losses}`,
      String(n),
    ];
  });
  const names = [a, b].map((run) => columnName(run, a.config.speech !== b.config.speech));
  const head = ['', ...names, 'difference', '95 %', 'p (Holm)', 'p (t)', 'wins', 'n'];
  return {
    json: { a: names[0], b: names[1], differences },
    text: `${tableInParts(head, body, { numbers: true })}\nwins: items in which ${names[1]} is better, equal, worse`,
  };
}

/** Name of a run in a comparison; if the same system is compared over text and in speech, the path is added. */
function columnName(run: Parameters<typeof textRunName>[0], hasBothPaths: boolean): string {
  return `${textRunName(run)}${hasBothPaths ? ` (${run.config.speech ? 'speech' : 'text'})` : ''}`;
}

/** Formats a p value; null as a dash. */
export function probabilityText(p: number | null): string {
  return p === null ? '–' : p < 0.001 ? '< 0.001' : p.toFixed(3);
}
