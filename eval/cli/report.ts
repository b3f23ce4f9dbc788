import type { EvalHost } from '../host.ts';
import { numberFlag, onlyPositional, parseFlags } from '../../server/terminal/flags.ts';
import { readingFlags, readKnownRun } from './benchmarks.ts';
import { writeResult } from './write-result.ts';

/** `dramatis eval report RUN`. */
export async function run(args: readonly string[], host: EvalHost): Promise<number> {
  const flags = {
    ...readingFlags,
    out: {
      type: 'string',
      value: 'FILE',
      help: 'file to write (default: report.html in the run’s folder); - for standard output',
    },
    worst: { type: 'string', value: 'N', help: 'number of worst items shown, with their audio (default 8)' },
  } as const;
  const synopsis = 'RUN [--out FILE] [--worst N]';
  const parsed = parseFlags<string>({ name: 'eval report', synopsis, flags }, args, host.print);
  if (parsed === undefined) return 0;
  const folder = onlyPositional(parsed.positionals, 'the folder of one run');
  const { benchmark, run: read } = await readKnownRun(folder, parsed.values);
  const worst = numberFlag(parsed.values['worst'], 'worst') ?? 8;
  const text = await benchmark.reportHtml(read, { worst });
  await writeResult({ file: 'report.html', text }, { out: parsed.values['out'], folder: read.folder }, host);
  return 0;
}
