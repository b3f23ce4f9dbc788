import { EvalError } from '../eval-error.ts';
import type { EvalHost } from '../host.ts';
import { parseFlags } from '../../server/terminal/flags.ts';
import { jsonText } from '../../server/terminal/text.ts';
import { benchmarkNamed, taskFlag } from './benchmarks.ts';

/** `dramatis eval data check DIR`. */
export async function run(args: readonly string[], host: EvalHost): Promise<number> {
  const flags = {
    task: taskFlag,
    reference: { type: 'string', value: 'KEY', help: 'role_speech_path1, 2 or 3, if the data has three references' },
    json: { type: 'boolean', help: 'print JSON' },
  } as const;
  const synopsis = 'check DIR [--task NAME] [--json]';
  const parsed = parseFlags({ name: 'eval data', synopsis, flags }, args, host.print);
  if (parsed === undefined) return 0;
  const [what, folder, ...more] = parsed.positionals;
  if (what !== 'check' || folder === undefined || more.length > 0)
    throw new EvalError('usage', 'Usage: dramatis eval data check DIR, with the folder of the test data.');
  const check = await benchmarkNamed(args).checkData(folder, parsed.values);
  host.print(parsed.values.json === true ? jsonText(check.json, 2) : check.text);
  return check.isComplete ? 0 : 1;
}
