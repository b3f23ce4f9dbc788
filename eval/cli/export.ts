import path from 'node:path';
import { EvalError } from '../eval-error.ts';
import type { EvalHost } from '../host.ts';
import { latexTable, resultsCsv, writeResultFiles } from '../speechrole/summary/export.ts';
import { writeOutputs } from '../speechrole/summary/export-outputs.ts';
import { runName } from '../speechrole/run-view.ts';
import { summarizeRun } from '../speechrole/summary/summary.ts';
import { onlyPositional, parseFlags, textFlag } from '../../server/terminal/flags.ts';
import { readingFlags, readWith } from './rescore.ts';
import { writeFileAtomic } from '../../voices/runtime/write-file-atomic.ts';

/** `dramatis eval export RUN --format WHICH`. */
export async function run(args: readonly string[], host: EvalHost): Promise<number> {
  const flags = {
    ...readingFlags,
    format: { type: 'string', value: 'WHICH', help: 'csv, json, latex; results or outputs for SpeechRole’s own files' },
    out: { type: 'string', value: 'PLACE', help: 'file or folder (default: in the run’s folder)' },
  } as const;
  const parsed = parseFlags(
    { name: 'eval export', synopsis: 'RUN --format csv|json|latex|results|outputs [--out PLACE]', flags },
    args,
    host.print,
  );
  if (parsed === undefined) return 0;
  const view = await readWith(onlyPositional(parsed.positionals, 'the folder of one run'), parsed.values);
  const format = textFlag(parsed.values.format);
  const place = (name: string): string => path.resolve(textFlag(parsed.values.out) ?? path.join(view.folder, name));
  if (format === 'results') {
    const folder = place('test_results');
    host.print(`${await writeResultFiles(view, folder)} files in ${folder}`);
    return 0;
  }
  if (format === 'outputs') {
    const folder = place(path.join('model_output', path.basename(view.folder)));
    host.print(`${await writeOutputs(view, folder)} dialogues in ${folder}`);
    return 0;
  }
  const summary = summarizeRun(view);
  const made = {
    csv: { name: 'results.csv', text: () => resultsCsv(view, runName(view)) },
    json: { name: 'summary.json', text: () => `${JSON.stringify(summary, null, 2)}\n` },
    latex: { name: 'table.tex', text: () => latexTable(summary) },
  }[format ?? ''];
  if (made === undefined) throw new EvalError('usage', '--format must be csv, json, latex, results or outputs.');
  await writeFileAtomic(place(made.name), made.text());
  host.print(place(made.name));
  return 0;
}
