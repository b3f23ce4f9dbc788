import { readFile } from 'node:fs/promises';
import { parseCsv, requireColumn } from '../csv.ts';
import { EvalError } from '../eval-error.ts';
import type { EvalHost } from '../host.ts';
import {
  agreement,
  type HumanVerdict,
  type JudgedRatios,
  type MetricAgreement,
} from '../speechrole/summary/agreement.ts';
import { metricKeys, metricShort, type MetricKey } from '../speechrole/judging/metrics.ts';
import { tableInParts } from '../../server/terminal/table.ts';
import { numberFlag, parseFlags, textFlag } from '../../server/terminal/flags.ts';
import { readKnownRun } from './benchmarks.ts';
import { jsonText } from '../../server/terminal/text.ts';

/** `dramatis eval agreement --human FILE --judge FILE`, or `dramatis eval agreement RUN --human FILE`. */
export async function run(args: readonly string[], host: EvalHost): Promise<number> {
  const flags = {
    human: {
      type: 'string',
      value: 'CSV',
      help: 'columns sample,first,second,metric,annotator,verdict (of the first: win, tie, lose); of a run: sample,metric,label,valid',
    },
    judge: {
      type: 'string',
      value: 'CSV,…',
      help: 'columns sample,system,metric,ratio, as written by `eval export --format csv`',
    },
    seed: { type: 'string', value: 'N', help: 'seed of the bootstrap (default 1)' },
    json: { type: 'boolean', help: 'print JSON' },
  } as const;
  const parsed = parseFlags(
    { name: 'eval agreement', synopsis: '--human CSV --judge CSV,… | RUN --human CSV [--json]', flags },
    args,
    host.print,
  );
  if (parsed === undefined) return 0;
  const human = textFlag(parsed.values.human);
  const judge = textFlag(parsed.values.judge);
  const [folder] = parsed.positionals;
  if (folder !== undefined && human !== undefined) return ofRun(folder, human, parsed.values.json === true, host);
  if (human === undefined || judge === undefined) throw new EvalError('usage', '--human and --judge are required.');
  const verdicts = await readVerdicts(human);
  const rows = agreement(verdicts, ratiosOfPairs(verdicts, await readRatios(judge.split(','))), {
    seed: numberFlag(parsed.values.seed, 'seed') ?? 1,
  });
  host.print(parsed.values.json === true ? jsonText(rows, 2) : asText(rows));
  return 0;
}

/** Compares the judge of a run with labels of people, where the run's benchmark has such a check. */
async function ofRun(folder: string, file: string, isJson: boolean, host: EvalHost): Promise<number> {
  const { benchmark, run: read } = await readKnownRun(folder);
  const printed = benchmark.withPeople?.(read, { rows: parseCsv(await readText(file)), file });
  if (printed === undefined)
    throw new EvalError(
      'usage',
      `Runs of ${benchmark.title} have no human labels. Give --judge, the CSV of \`eval export\`.`,
    );
  host.print(isJson ? jsonText(printed.json, 2) : printed.text);
  return 0;
}

const verdictValues: Readonly<Record<string, number>> = { win: 1, tie: 0.5, lose: 0, '1': 1, '0.5': 0.5, '0': 0 };

/**
 * Reads human verdicts. Two system pairs on the same dialogue are separate items, so an item's name holds dialogue and
 * both systems.
 */
async function readVerdicts(file: string): Promise<HumanVerdict[]> {
  return parseCsv(await readText(file)).map((row) => {
    const column = (name: string): string => requireColumn(row, name, file);
    const first = verdictValues[column('verdict').toLowerCase()];
    if (first === undefined)
      throw new EvalError(
        'data',
        `${file}: a verdict must be win, tie or lose (or 1, 0.5, 0), not "${column('verdict')}".`,
      );
    return {
      sample: JSON.stringify([column('sample'), column('first'), column('second')]),
      metric: metricOf(column('metric'), file),
      annotator: column('annotator'),
      first,
    };
  });
}

/** Reads ratios keyed by `[sample, system, metric]`; rows without a score are skipped. */
async function readRatios(files: readonly string[]): Promise<Map<string, number>> {
  const ratios = new Map<string, number>();
  for (const file of files) {
    for (const row of parseCsv(await readText(file))) {
      if (row['ratio'] === '') continue;
      const ratio = Number(requireColumn(row, 'ratio', file));
      if (!Number.isFinite(ratio)) throw new EvalError('data', `${file}: the ratio "${row['ratio']}" is not a number.`);
      const metric = metricOf(requireColumn(row, 'metric', file), file);
      ratios.set(ratioKey(requireColumn(row, 'sample', file), requireColumn(row, 'system', file), metric), ratio);
    }
  }
  return ratios;
}

function ratiosOfPairs(verdicts: readonly HumanVerdict[], ratios: ReadonlyMap<string, number>): JudgedRatios[] {
  const items = new Map(verdicts.map((verdict) => [`${verdict.sample} ${verdict.metric}`, verdict]));
  return [...items.values()].flatMap(({ sample: item, metric }): JudgedRatios[] => {
    const [sample, first, second] = JSON.parse(item) as [string, string, string];
    const [one, other] = [ratios.get(ratioKey(sample, first, metric)), ratios.get(ratioKey(sample, second, metric))];
    return one === undefined || other === undefined ? [] : [{ sample: item, metric, first: one, second: other }];
  });
}

function ratioKey(sample: string, system: string, metric: MetricKey): string {
  return JSON.stringify([sample, system, metric]);
}

function metricOf(name: string, file: string): MetricKey {
  const found = metricKeys.find((metric) => name === metric || name === metricShort[metric]);
  if (found === undefined)
    throw new EvalError('data', `${file}: there is no metric "${name}". Use IA, SF, … or the full name.`);
  return found;
}

async function readText(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((cause: unknown) => {
    throw new EvalError('data', `${file} cannot be read. Check the path.`, cause);
  });
}

function asText(rows: readonly MetricAgreement[]): string {
  const number = (value: number | null): string => (value === null ? '–' : value.toFixed(4));
  const head = [
    '',
    'n',
    'Pearson',
    '95 %',
    'MSE',
    'Spearman',
    'Kendall',
    'correct',
    'MSE (LOO)',
    'ceiling',
    'alpha',
    'p',
  ];
  return tableInParts(
    head,
    rows.map((row) => [
      row.metric,
      String(row.n),
      number(row.pearson),
      row.pearsonInterval.low === null
        ? '–'
        : `${row.pearsonInterval.low.toFixed(2)}–${row.pearsonInterval.high?.toFixed(2)}`,
      number(row.mse),
      number(row.spearman),
      number(row.kendall),
      number(row.accuracy),
      number(row.leaveOneOutMse),
      number(row.humanCeiling),
      number(row.alpha),
      row.chance === null ? '–' : row.chance < 0.001 ? '< 0.001' : row.chance.toFixed(3),
    ]),
    { numbers: true },
  );
}
