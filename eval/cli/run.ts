import path from 'node:path';
import { parseFlags, requireFlag, requireNone } from '../../server/terminal/flags.ts';
import type { EvalHost } from '../host.ts';
import { limitsOf } from '../judge/judge-flags.ts';
import { benchmarkNamed, taskFlag } from './benchmarks.ts';
import { execute } from './execute.ts';

/** `dramatis eval run`. */
export async function run(args: readonly string[], host: EvalHost): Promise<number> {
  const benchmark = benchmarkNamed(args);
  const flags = {
    task: taskFlag,
    ...benchmark.flags,
    out: { type: 'string', value: 'DIR', help: 'folder of the run: log, audio, results' },
  } as const;
  const { synopsis } = benchmark;
  const parsed = parseFlags<string>({ name: 'eval run', synopsis, flags, settings: 'accepted' }, args, host.print);
  if (parsed === undefined) return 0;
  requireNone(parsed.positionals);
  const folder = path.resolve(requireFlag(parsed.values['out'], 'out'));
  const config = await benchmark.configure(parsed);
  const limits = limitsOf(parsed.values);
  return execute({ benchmark, config, folder, resume: false, secrets: parsed.secrets, ...limits }, host);
}
