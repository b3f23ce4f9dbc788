import { EvalError } from '../eval-error.ts';
import type { EvalHost } from '../host.ts';
import { runName } from '../speechrole/run-view.ts';
import { compareRuns } from '../speechrole/summary/score-table.ts';
import { comparisonText } from '../speechrole/summary/score-text.ts';
import { parseFlags } from '../../server/terminal/flags.ts';
import { readingFlags, readWith } from './rescore.ts';

/** `dramatis eval compare A B`. */
export async function run(args: readonly string[], host: EvalHost): Promise<number> {
  const flags = { ...readingFlags, json: { type: 'boolean', help: 'print JSON' } } as const;
  const parsed = parseFlags(
    { name: 'eval compare', synopsis: 'A B [--aggregation HOW] [--json]', flags },
    args,
    host.print,
  );
  if (parsed === undefined) return 0;
  const [first, second, ...more] = parsed.positionals;
  if (first === undefined || second === undefined || more.length > 0)
    throw new EvalError('usage', 'Give the folders of two runs.');
  const [a, b] = await Promise.all([readWith(first, parsed.values), readWith(second, parsed.values)]);
  const how = (view: typeof a): string =>
    [view.config.protocol, view.config.prompts ?? 'our prompts', view.config.judge?.model ?? 'no judge'].join(', ');
  if (how(a) !== how(b))
    throw new EvalError(
      'usage',
      `The runs were judged differently (${how(a)}; ${how(b)}), so they cannot be compared.`,
    );
  if (a.record.header.data.hash !== b.record.header.data.hash)
    host.print('The two runs have different data; dialogues with the same name are compared.');
  const all: Record<string, unknown> = {};
  for (const language of ['en', 'zh'] as const) {
    const of = (view: typeof a): typeof a.judged => view.judged.filter((sample) => sample.language === language);
    if (of(a).length === 0 || of(b).length === 0) continue;
    const differences = compareRuns(of(a), of(b), { aggregation: a.config.aggregation, seed: a.config.seed });
    all[language] = differences;
    if (parsed.values.json === true) continue;
    host.print(
      `${language === 'en' ? 'English' : 'Chinese'}\n${comparisonText(differences, [runName(a), runName(b)])}\n`,
    );
  }
  if (parsed.values.json === true) host.print(JSON.stringify(all, null, 2));
  return 0;
}
