import path from 'node:path';
import { EvalError } from '../eval-error.ts';
import type { EvalHost } from '../host.ts';
import { openRunFolder } from '../run-folder.ts';
import { openRunLog, readRunLog } from '../run-log.ts';
import { limitsOf } from '../judge/judge-flags.ts';
import { parseFlags, textFlag } from '../../server/terminal/flags.ts';
import { writeFileAtomic } from '../../voices/runtime/files.ts';
import { jsonText } from '../../server/terminal/text.ts';
import { benchmarkNamed, taskFlag } from './benchmarks.ts';
import { runLogged } from './run.ts';

/** `dramatis eval judge-check`: tests a judge on pairs with a known better one, before its scores are trusted. */
export async function run(args: readonly string[], host: EvalHost): Promise<number> {
  const benchmark = benchmarkNamed(args);
  const flags = {
    task: taskFlag,
    ...benchmark.checkFlags,
    out: { type: 'string', value: 'DIR', help: 'folder of the check; an unfinished check there is continued' },
    json: { type: 'boolean', help: 'print JSON' },
  } as const;
  const synopsis = '--data DIR --out DIR --judge URL --judge-model MODEL';
  const parsed = parseFlags<string>({ name: 'eval judge-check', synopsis, flags }, args, host.print);
  if (parsed === undefined) return 0;
  const { values } = parsed;
  const out = textFlag(values['out']);
  if (out === undefined || textFlag(values['data']) === undefined || textFlag(values['judge']) === undefined)
    throw new EvalError('usage', '--data, --out and --judge are required.');
  const folder = path.resolve(out);
  await using check = await benchmark.openCheck(parsed, folder, host);
  const ended = await perform(check, folder, { limits: limitsOf(values), host });
  const { results, json, text, isPassed } = check.results(await readRunLog(path.join(folder, 'log.jsonl')));
  await writeFileAtomic(path.join(folder, 'check.json'), `${JSON.stringify(results, null, 2)}\n`);
  host.print(values['json'] === true ? jsonText(json, 2) : text);
  if (ended !== 'finished') host.print(`Not finished: ${ended}. Run the same command again to continue.`);
  return ended === 'finished' && isPassed ? 0 : 1;
}

async function perform(
  check: Parameters<typeof runLogged>[0],
  place: string,
  { limits, host }: { readonly limits: ReturnType<typeof limitsOf>; readonly host: EvalHost },
): Promise<string> {
  await using folder = await openRunFolder(place);
  const before = await readRunLog(folder.logFile).catch(() => undefined);
  const log = await openRunLog(folder.logFile, { fresh: before === undefined });
  try {
    return await runLogged(check, before, { folder, log, limits, host });
  } finally {
    await log.close();
  }
}
