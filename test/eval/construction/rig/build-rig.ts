import { mkdir, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { runBuild, type BuildOptions, type BuildReport } from '../../../../eval/construction/runner/build.ts';
import type { TextModel } from '../../../../eval/construction/runner/model.ts';
import type { Pipeline } from '../../../../eval/construction/runner/stage.ts';
import { openEndpoint, type EvalClock } from '../../../../eval/limits.ts';

/** A clock that never waits: its time passes by sleeping. */
export function hurriedClock(): EvalClock {
  let nowMs = 0;
  return {
    now: () => nowMs,
    async sleep(ms) {
      nowMs += ms;
      await Promise.resolve();
    },
  };
}

export type RigOptions = Partial<Omit<BuildOptions, 'folder' | 'modelOf'>> & {
  readonly prices?: { input: number; output: number };
};

/** Runs a build with one model for all stages. */
export async function build(
  pipeline: Pipeline,
  folder: string,
  model: TextModel,
  { prices = { input: 1, output: 2 }, ...options }: RigOptions = {},
): Promise<BuildReport> {
  await mkdir(folder, { recursive: true });
  const clock = hurriedClock();
  const endpoint = openEndpoint('scripted', { concurrency: 4, retries: 3 }, { clock, random: () => 0.5 });
  return runBuild(pipeline, {
    folder,
    modelOf: () => ({ model, endpoint, prices }),
    clock,
    signal: new AbortController().signal,
    concurrency: 4,
    rights: 'public domain',
    ...options,
  });
}

/** Contents of a folder by name, without the journal, whose lines come in the order of the answers. */
export async function filesOf(folder: string): Promise<ReadonlyMap<string, string>> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile() && !/^journal\.jsonl$|\.draft$|\.lock$/.test(entry.name));
  const read = files.map(async (entry) => {
    const file = path.join(entry.parentPath, entry.name);
    return [path.relative(folder, file), await readFile(file, 'utf8')] as const;
  });
  return new Map((await Promise.all(read)).toSorted(([left], [right]) => (left < right ? -1 : 1)));
}

export function jsonLines<Row>(text: string | undefined): Row[] {
  return (text ?? '')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Row);
}
