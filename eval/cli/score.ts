import { EvalError } from '../eval-error.ts';
import type { EvalHost } from '../host.ts';
import { readResults } from '../speechrole/summary/results.ts';
import { scoreRow } from '../speechrole/summary/score-table.ts';
import { scoreTableText } from '../speechrole/summary/score-text.ts';
import { numberFlag, parseFlags, textFlag } from '../../server/terminal/flags.ts';
import { jsonText } from '../../server/terminal/text.ts';

/** `dramatis eval score --results FILE|DIR`. */
export async function run(args: readonly string[], host: EvalHost): Promise<number> {
  const flags = {
    results: { type: 'string', value: 'FILE|DIR', help: 'result files of SpeechRole: <role>.json, single/, multi/' },
    aggregation: { type: 'string', value: 'HOW', help: 'only mean-of-ratios or ratio-of-sums (default: both)' },
    seed: { type: 'string', value: 'N', help: 'seed of the bootstrap (default 1)' },
    json: { type: 'boolean', help: 'print JSON' },
  } as const;
  const parsed = parseFlags({ name: 'eval score', synopsis: '--results FILE|DIR [--json]', flags }, args, host.print);
  if (parsed === undefined) return 0;
  const place = textFlag(parsed.values.results) ?? parsed.positionals[0];
  if (place === undefined)
    throw new EvalError('usage', '--results is required: a result file, or a folder with result files.');
  const { samples, protocols, problems } = await readResults(place);
  const seed = numberFlag(parsed.values.seed, 'seed') ?? 1;
  const wanted = textFlag(parsed.values.aggregation);
  const groups = (['mean-of-ratios', 'ratio-of-sums'] as const)
    .filter((aggregation) => wanted === undefined || wanted === aggregation)
    .flatMap((aggregation) =>
      (['en', 'zh'] as const).flatMap((language) => {
        const chosen = samples.filter((sample) => sample.language === language);
        if (chosen.length === 0) return [];
        const label = `${language === 'en' ? 'English' : 'Chinese'}, ${aggregation}`;
        return [{ label, language, aggregation, row: scoreRow(chosen, { aggregation, seed }) }];
      }),
    );
  if (groups.length === 0) throw new EvalError('usage', '--aggregation must be mean-of-ratios or ratio-of-sums.');
  if (parsed.values.json === true) {
    host.print(jsonText({ protocols, dialogues: samples.length, problems, groups }, 2));
  } else {
    host.print(
      `${samples.length} dialogues, judged by protocol ${protocols.join(' and ')}\n\n${scoreTableText(groups)}`,
    );
    for (const problem of problems) host.print(`skipped: ${problem}`);
  }
  return 0;
}
