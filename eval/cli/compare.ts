import { EvalError } from '../eval-error.ts';
import type { EvalHost } from '../host.ts';
import { uncheckedNote } from '../benchmark.ts';
import { parseFlags } from '../../server/terminal/flags.ts';
import { readingFlags, readKnownRun } from './benchmarks.ts';
import { jsonText } from '../../server/terminal/text.ts';

/** `dramatis eval compare A B`. */
export async function run(args: readonly string[], host: EvalHost): Promise<number> {
  const flags = {
    ...readingFlags,
    anyway: { type: 'boolean', help: 'compare runs that were judged differently; the output says so' },
    json: { type: 'boolean', help: 'print JSON' },
  } as const;
  const synopsis = 'A B [--aggregation HOW] [--anyway] [--json]';
  const parsed = parseFlags<string>({ name: 'eval compare', synopsis, flags }, args, host.print);
  if (parsed === undefined) return 0;
  const [first, second, ...more] = parsed.positionals;
  if (first === undefined || second === undefined || more.length > 0)
    throw new EvalError('usage', 'Give the folders of two runs.');
  const { anyway, json, ...values } = parsed.values;
  const [a, b] = await Promise.all([readKnownRun(first, values), readKnownRun(second, values)]);
  const { benchmark } = a;
  if (b.benchmark !== benchmark)
    throw new EvalError('usage', `The runs are of ${benchmark.title} and of ${b.benchmark.title}.`);
  const differs = differencesIn(benchmark.comparability(a.run), benchmark.comparability(b.run));
  if (differs.length > 0 && anyway !== true)
    throw new EvalError(
      'usage',
      `The runs were judged differently: ${differs.join('; ')}. Add --anyway to compare them nevertheless.`,
    );
  const hasOtherData = a.run.record.header.data.hash !== b.run.record.header.data.hash;
  const compared = benchmark.compare(a.run, b.run);
  if (json === true) {
    const heads = { ...(hasOtherData && { hasOtherData }), ...(differs.length > 0 && { differs }) };
    host.print(jsonText({ ...heads, ...(compared.json as object) }, 2));
    return 0;
  }
  const notes = [
    hasOtherData ? 'The two runs have different data; dialogues with the same name are compared.' : [],
    differs.length === 0 ? [] : `NOT COMPARABLE, since they were judged differently: ${differs.join('; ')}\n`,
    [a.run, b.run].some((each) => benchmark.isUnchecked(each)) ? uncheckedNote : [],
  ].flat();
  for (const note of notes) host.print(note);
  host.print(compared.text);
  return 0;
}

/** Names the facts in which two runs differ. */
export function differencesIn(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): string[] {
  return Object.keys(a)
    .filter((fact) => a[fact] !== b[fact])
    .map((fact) => `${fact} (${a[fact]}; ${b[fact]})`);
}
