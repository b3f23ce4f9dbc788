import { EvalError } from '../eval-error.ts';
import type { EvalHost } from '../host.ts';
import { onlyPositional, parseFlags, textFlag } from '../../server/terminal/flags.ts';
import { readingFlags, readKnownRun } from './benchmarks.ts';
import { writeResult } from './write-result.ts';

/** `dramatis eval export RUN --format WHICH`. */
export async function run(args: readonly string[], host: EvalHost): Promise<number> {
  const flags = {
    ...readingFlags,
    format: { type: 'string', value: 'WHICH', help: 'csv, json, latex; results or outputs for the paper’s own files' },
    out: {
      type: 'string',
      value: 'PLACE',
      help: 'file, or folder (default: in the run’s folder); - for standard output',
    },
  } as const;
  const synopsis = 'RUN --format csv|json|latex|results|outputs [--out PLACE]';
  const parsed = parseFlags<string>({ name: 'eval export', synopsis, flags }, args, host.print);
  if (parsed === undefined) return 0;
  const folder = onlyPositional(parsed.positionals, 'the folder of one run');
  const { benchmark, run: read } = await readKnownRun(folder, parsed.values);
  const format = textFlag(parsed.values['format']) ?? '';
  if (!benchmark.formats.includes(format))
    throw new EvalError('usage', `--format must be one of ${benchmark.formats.join(', ')}.`);
  const exported = benchmark.exportAs(format, read);
  await writeResult(exported, { out: parsed.values['out'], folder: read.folder }, host);
  return 0;
}
