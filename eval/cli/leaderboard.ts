import type { EvalHost } from '../host.ts';
import { parseFlags, textFlag } from '../../server/terminal/flags.ts';
import { jsonText } from '../../server/terminal/text.ts';
import { benchmarkNamed, readingFlags, readKnownRun, taskFlag } from './benchmarks.ts';

/** `dramatis eval leaderboard [RUN…]`. */
export async function run(args: readonly string[], host: EvalHost): Promise<number> {
  const flags = {
    task: { ...taskFlag, help: `without runs: ${taskFlag.help}` },
    ...readingFlags,
    json: { type: 'boolean', help: 'print JSON' },
  } as const;
  const synopsis = '[RUN…] [--task NAME] [--json]';
  const parsed = parseFlags<string>({ name: 'eval leaderboard', synopsis, flags }, args, host.print);
  if (parsed === undefined) return 0;
  const { task, json, ...values } = parsed.values;
  const known = await Promise.all(parsed.positionals.map((folder) => readKnownRun(folder, values)));
  const asked = known.length === 0 || textFlag(task) !== undefined ? [benchmarkNamed(args)] : [];
  const shown = new Set([...asked, ...known.map(({ benchmark }) => benchmark)]);
  for (const benchmark of shown) {
    const runs = known.filter((each) => each.benchmark === benchmark).map(({ run: read }) => read);
    const board = benchmark.leaderboard(runs);
    host.print(json === true ? jsonText(board.json, 2) : board.text);
  }
  return 0;
}
