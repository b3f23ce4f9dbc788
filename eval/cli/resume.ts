import path from 'node:path';
import { EvalError } from '../eval-error.ts';
import type { EvalHost } from '../host.ts';
import { readRun } from '../speechrole/run-view.ts';
import { execute } from './execute.ts';
import { numberOf, onlyPositional, parseFlags, textOf } from './flags.ts';

/** `dramatis eval resume RUN`. */
export async function run(args: readonly string[], host: EvalHost): Promise<number> {
  const flags = {
    agent: { type: 'string', value: 'URL', help: 'where the same system is to be found now' },
    judge: { type: 'string', value: 'URL', help: 'where the same judge is to be found now' },
    'max-cost': { type: 'string', value: 'USD', help: 'stop when the whole run has cost so much' },
    'max-minutes': { type: 'string', value: 'N', help: 'stop after so long' },
  } as const;
  const synopsis = 'RUN [--max-cost USD] [--max-minutes N]';
  const parsed = parseFlags('resume', synopsis, args, flags, host, { takesServerFlags: true });
  if (parsed === undefined) return 0;
  const [changed] = Object.keys(parsed.server);
  if (changed !== undefined)
    throw new EvalError(
      'usage',
      `A run keeps the settings that it began with: leave out --${changed}. Keys may be given again.`,
    );
  const folder = path.resolve(onlyPositional(parsed.positionals, 'the folder of one run'));
  const { config } = await readRun(folder);
  const judge = textOf(parsed.values.judge);
  const agent = textOf(parsed.values.agent) ?? config.agent;
  return execute(
    {
      config: {
        ...config,
        agent,
        ...(config.judge === undefined || judge === undefined ? {} : { judge: { ...config.judge, url: judge } }),
      },
      folder,
      resume: true,
      secrets: parsed.secrets,
      maxDollars: numberOf(parsed.values['max-cost'], 'max-cost'),
      maxMinutes: numberOf(parsed.values['max-minutes'], 'max-minutes'),
    },
    host,
  );
}
