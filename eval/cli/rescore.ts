import type { EvalHost } from '../host.ts';
import { onlyPositional, parseFlags } from '../../server/terminal/flags.ts';
import { jsonText } from '../../server/terminal/text.ts';
import { readingFlags, readKnownRun } from './benchmarks.ts';

/** `dramatis eval rescore RUN`: recomputes scores from the judge's replies in the log; makes no calls. */
export async function run(args: readonly string[], host: EvalHost): Promise<number> {
  const flags = { ...readingFlags, json: { type: 'boolean', help: 'print JSON' } } as const;
  const synopsis = 'RUN [--parser WHICH] [--aggregation HOW] [--json]';
  const parsed = parseFlags<string>({ name: 'eval rescore', synopsis, flags }, args, host.print);
  if (parsed === undefined) return 0;
  const folder = onlyPositional(parsed.positionals, 'the folder of one run');
  const { benchmark, run: read } = await readKnownRun(folder, parsed.values);
  await benchmark.writeResults(read);
  const { json, text } = benchmark.summary(read);
  host.print(parsed.values['json'] === true ? jsonText(json, 2) : text);
  return 0;
}
