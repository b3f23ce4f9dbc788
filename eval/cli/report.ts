import path from 'node:path';
import type { EvalHost } from '../host.ts';
import { reportHtml } from '../report/report.ts';
import { numberOf, onlyPositional, parseFlags, textOf } from './flags.ts';
import { readingFlags, readWith } from './rescore.ts';
import { writeFileAtomic } from '../../voices/runtime/write-file-atomic.ts';

/** `dramatis eval report RUN`. */
export async function run(args: readonly string[], host: EvalHost): Promise<number> {
  const flags = {
    ...readingFlags,
    out: { type: 'string', value: 'FILE', help: 'by default report.html in the run’s folder' },
    worst: { type: 'string', value: 'N', help: 'how many of the worst dialogues are shown, with sound (8)' },
  } as const;
  const parsed = parseFlags('report', 'RUN [--out FILE] [--worst N]', args, flags, host);
  if (parsed === undefined) return 0;
  const view = await readWith(onlyPositional(parsed.positionals, 'the folder of one run'), parsed.values);
  const file = path.resolve(textOf(parsed.values.out) ?? path.join(view.folder, 'report.html'));
  await writeFileAtomic(file, await reportHtml(view, { worst: numberOf(parsed.values.worst, 'worst') ?? 8 }));
  host.print(file);
  return 0;
}
