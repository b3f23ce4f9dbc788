import path from 'node:path';
import type { AnyBenchmark, ReadRun, ReadingValues } from '../benchmark.ts';
import { autoRp } from '../autorp/task.ts';
import { coserTask } from '../coser/task.ts';
import { EvalError } from '../eval-error.ts';
import { runPaths } from '../run-folder.ts';
import { readRunHeader } from '../run-log.ts';
import { roleBench } from '../rolebench/task.ts';
import { speechRole } from '../speechrole/command/benchmark.ts';
import { wikiRole } from '../wikirole/task.ts';
import { textBenchmark } from '../text/benchmark.ts';
import type { FlagFacts } from '../../server/terminal/flags.ts';

/** Every benchmark of `--task`, the default first. */
const benchmarks: readonly [AnyBenchmark, ...AnyBenchmark[]] = [
  speechRole,
  textBenchmark(roleBench),
  textBenchmark(wikiRole),
  textBenchmark(autoRp),
  textBenchmark(coserTask),
];

export const taskFlag = {
  type: 'string',
  value: 'NAME',
  help: `${benchmarks.map(({ name }) => name).join(', ')} (default ${benchmarks[0].name})`,
} as const satisfies FlagFacts;

/** Returns the benchmark that `--task` names; the flags of a command depend on it, so it is read before them. */
export function benchmarkNamed(args: readonly string[]): AnyBenchmark {
  const at = args.lastIndexOf('--task');
  const name = at >= 0 ? args[at + 1] : args.findLast((each) => each.startsWith('--task='))?.slice('--task='.length);
  if (name === undefined) return benchmarks[0];
  const found = benchmarks.find((each) => each.name === name);
  if (found !== undefined) return found;
  throw new EvalError('usage', `--task must be ${benchmarks.map((each) => each.name).join(', ')}, not "${name}".`);
}

/** Returns the benchmark whose task a log names. */
export function benchmarkOfLog(name: string): AnyBenchmark | undefined {
  return benchmarks.find(({ logName }) => logName === name);
}

/** A run, and the benchmark that its log names. */
export interface KnownRun {
  readonly benchmark: AnyBenchmark;
  readonly run: ReadRun;
}

/** Reads the run in a folder, however `values` say. */
export async function readKnownRun(folder: string, values: ReadingValues = {}): Promise<KnownRun> {
  const place = path.resolve(folder);
  const { task } = await readRunHeader(runPaths(place).logFile);
  const benchmark = benchmarkOfLog(task.name);
  if (benchmark === undefined)
    throw new EvalError('log', `${folder} is not a run of a benchmark. Give a folder that \`eval run\` has made.`);
  const foreign = Object.keys(readingFlags).find(
    (flag) => values[flag] !== undefined && !(flag in benchmark.readingFlags),
  );
  if (foreign !== undefined) throw new EvalError('usage', `Runs of ${benchmark.title} have no --${foreign}.`);
  return { benchmark, run: await benchmark.read(place, values) };
}

/** Flags of commands that read a run, of all benchmarks; each refuses those of others. */
export const readingFlags: Readonly<Record<string, FlagFacts>> = Object.assign(
  {},
  ...benchmarks.map((each) => each.readingFlags),
);
