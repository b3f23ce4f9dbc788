import path from 'node:path';
import { EvalError } from '../eval-error.ts';
import type { EvalHost } from '../host.ts';
import { jobFlags, jobsWanted } from '../jobs/job-flags.ts';
import { limitsOf } from '../judge/judge-flags.ts';
import { readKnownRun } from './benchmarks.ts';
import { execute } from './run.ts';
import { flagOf, onlyPositional, parseFlags, textFlag } from '../../server/terminal/flags.ts';

/** `dramatis eval resume RUN`. */
export async function run(args: readonly string[], host: EvalHost): Promise<number> {
  const flags = {
    agent: { type: 'string', value: 'URL', help: 'new address of the same system' },
    judge: { type: 'string', value: 'URL', help: 'new address of the same judge' },
    ...jobFlags,
    'max-cost': { type: 'string', value: 'USD', help: 'stop when the whole run has cost this much' },
    'max-minutes': { type: 'string', value: 'N', help: 'stop after this many minutes' },
  } as const;
  const synopsis = 'RUN [--max-cost USD] [--max-minutes N]';
  const parsed = parseFlags({ name: 'eval resume', synopsis, flags, settings: 'accepted' }, args, host.print);
  if (parsed === undefined) return 0;
  const [changed] = Object.keys(parsed.settings);
  if (changed !== undefined)
    throw new EvalError(
      'usage',
      `A run keeps its initial settings: leave out ${flagOf(changed)}. Only keys may be given again.`,
    );
  const folder = path.resolve(onlyPositional(parsed.positionals, 'the folder of one run'));
  const { benchmark, run: before } = await readKnownRun(folder);
  const config = benchmark.resumed(before, {
    agent: textFlag(parsed.values.agent),
    judge: textFlag(parsed.values.judge),
  });
  const limits = limitsOf(parsed.values);
  const jobs = jobsWanted(parsed.values, host.environment);
  return execute({ benchmark, config, folder, resume: true, secrets: parsed.secrets, jobs, ...limits }, host);
}
