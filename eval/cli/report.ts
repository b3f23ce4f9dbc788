import path from 'node:path';
import type { EvalHost } from '../host.ts';
import { reportHtml } from '../report/report.ts';
import { numberFlag, onlyPositional, parseFlags, textFlag } from '../../server/terminal/flags.ts';
import { writeFileAtomic } from '../../voices/runtime/write-file-atomic.ts';
import { readingFlags, readWith } from './rescore.ts';

/** `dramatis eval report RUN`. */
export async function run(args: readonly string[], host: EvalHost): Promise<number> {
  const flags = {
    ...readingFlags,
    out: { type: 'string', value: 'FILE', help: 'file to write (default: report.html in the run’s folder)' },
    worst: { type: 'string', value: 'N', help: 'number of worst dialogues shown, with audio (default 8)' },
  } as const;
  const parsed = parseFlags({ name: 'eval report', synopsis: 'RUN [--out FILE] [--worst N]', flags }, args, host.print);
  if (parsed === undefined) return 0;
  const view = await readWith(onlyPositional(parsed.positionals, 'the folder of one run'), parsed.values);
  const file = path.resolve(textFlag(parsed.values.out) ?? path.join(view.folder, 'report.html'));
  await writeFileAtomic(file, await reportHtml(view, { worst: numberFlag(parsed.values.worst, 'worst') ?? 8 }));
  host.print(file);
  return 0;
}
