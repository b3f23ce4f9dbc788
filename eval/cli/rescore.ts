import path from 'node:path';
import { EvalError } from '../eval-error.ts';
import type { EvalHost } from '../host.ts';
import { resultsJson } from '../speechrole/summary/export.ts';
import { readRun, type RunView } from '../speechrole/run-view.ts';
import { summaryText } from '../speechrole/summary/score-text.ts';
import { summarizeRun } from '../speechrole/summary/summary.ts';
import { onlyPositional, parseFlags, type FlagFacts } from '../../server/terminal/flags.ts';
import { writeFileAtomic } from '../../voices/runtime/write-file-atomic.ts';

/** Flags of commands that read a finished run. */
export const readingFlags = {
  parser: { type: 'string', value: 'WHICH', help: 'tolerant or strict (default: that of the run)' },
  aggregation: { type: 'string', value: 'HOW', help: 'mean-of-ratios or ratio-of-sums (default: that of the run)' },
} as const satisfies Record<string, FlagFacts>;

/** Reads the run in a folder, with the flags' parser and aggregation. */
export function readWith(
  folder: string,
  values: Readonly<Record<string, string | boolean | undefined>>,
): Promise<RunView> {
  const { parser, aggregation } = values;
  if (parser !== undefined && parser !== 'strict' && parser !== 'tolerant')
    throw new EvalError('usage', '--parser must be strict or tolerant.');
  if (aggregation !== undefined && aggregation !== 'mean-of-ratios' && aggregation !== 'ratio-of-sums')
    throw new EvalError('usage', '--aggregation must be mean-of-ratios or ratio-of-sums.');
  return readRun(path.resolve(folder), {
    ...(parser === undefined ? {} : { parser }),
    ...(aggregation === undefined ? {} : { aggregation }),
  });
}

/** `dramatis eval rescore RUN`: recomputes scores from the judge's replies in the log; makes no calls. */
export async function run(args: readonly string[], host: EvalHost): Promise<number> {
  const flags = { ...readingFlags, json: { type: 'boolean', help: 'print JSON' } } as const;
  const parsed = parseFlags(
    { name: 'eval rescore', synopsis: 'RUN [--parser WHICH] [--aggregation HOW] [--json]', flags },
    args,
    host.print,
  );
  if (parsed === undefined) return 0;
  const folder = onlyPositional(parsed.positionals, 'the folder of one run');
  const view = await readWith(folder, parsed.values);
  await writeFileAtomic(path.join(view.folder, 'results.json'), resultsJson(view));
  const summary = summarizeRun(view);
  host.print(parsed.values.json === true ? JSON.stringify(summary, null, 2) : summaryText(summary));
  return 0;
}
