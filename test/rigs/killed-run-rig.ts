import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import type { LogLine } from '../../eval/run-log.ts';
import { seededRandom } from '../../eval/statistics.ts';

const main = path.resolve(import.meta.dirname, '../../server/main.ts');

/** Runs `dramatis eval …` in a process, and kills it (SIGKILL) once `until` is true. Resolves to its exit status, null if killed. */
export async function evaluate(args: readonly string[], until?: () => Promise<boolean>): Promise<number | null> {
  const child = spawn(process.execPath, [main, 'eval', ...args], { stdio: 'ignore' });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  if (until !== undefined) {
    const over = exited.then(() => true);
    while (!(await Promise.race([over, until()])));
    child.kill('SIGKILL');
  }
  return (await exited)[0];
}

/** A run in one piece, and the same run killed at several moments and resumed. */
export interface KilledRun {
  readonly kills: number;
  /** `results.json` of both. */
  readonly results: { readonly whole: string; readonly killed: string };
  readonly events: readonly LogLine[];
}

/** Performs a run twice, once killed at `kills` moments spread over its log. `argsFor` gives the arguments for a folder. */
export async function runWithKills(
  argsFor: (folder: string) => readonly string[],
  { scratch, kills, seed }: { readonly scratch: string; readonly kills: number; readonly seed: number },
): Promise<KilledRun> {
  const [whole, folder] = [path.join(scratch, 'whole'), path.join(scratch, 'killed')];
  const sizeOf = async (run: string): Promise<number> =>
    (await stat(path.join(run, 'log.jsonl')).catch(() => undefined))?.size ?? 0;
  const wholeStatus = await evaluate(argsFor(whole));
  const size = await sizeOf(whole);
  const random = seededRandom(seed);
  let killed = 0;
  for (let round = 0; round < kills; round += 1) {
    // Anywhere in a line or between two; always later than the moment before.
    const killAt = (size * (round + random())) / (kills + 1);
    const status = await evaluate((await sizeOf(folder)) > 0 ? ['resume', folder] : argsFor(folder), async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return (await sizeOf(folder)) >= killAt;
    });
    if (status === null) killed += 1;
  }
  const status = await evaluate(['resume', folder]);
  if (status !== wholeStatus) throw new Error(`the runs ended with ${wholeStatus} and ${status}`);
  const read = (run: string): Promise<string> => readFile(path.join(run, 'results.json'), 'utf8');
  const log = await readFile(path.join(folder, 'log.jsonl'), 'utf8');
  return {
    kills: killed,
    results: { whole: await read(whole), killed: await read(folder) },
    events: log
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as LogLine),
  };
}
