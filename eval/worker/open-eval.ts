import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { benchmarkOfLog } from '../cli/benchmarks.ts';
import { EvalError } from '../eval-error.ts';
import { evalWork, measureKind, solveKind } from '../jobs/far-task.ts';
import type { RunFacts } from '../jobs/run-facts.ts';
import { runPaths, type AudioStore } from '../run-folder.ts';
import { runHeader, type RunHeader } from '../run-log.ts';
import type { Sample } from '../task.ts';
import type { OpenedWork, WorkServices } from './open-run.ts';

const about = z.object({ header: runHeader, config: z.unknown() });

/** Opens the task of an evaluation. Throws an `EvalError` if data, prompts or versions are not those of the run. */
export async function openEvalWork(facts: RunFacts, services: WorkServices): Promise<OpenedWork> {
  const { header, config } = about.parse(facts.about);
  const benchmark = benchmarkOfLog(header.task.name);
  if (benchmark === undefined) throw new EvalError('jobs', `There is no benchmark "${header.task.name}" here.`);
  const { host, turns, signal } = services;
  const scratch = await mkdtemp(path.join(tmpdir(), 'dramatis-worker-'));
  const removed = (): Promise<void> => rm(scratch, { recursive: true, force: true });
  try {
    const run = await benchmark.open(config, scratch, { ...host, print: host.note, turns, signal });
    const close = async (): Promise<void> => {
      await run[Symbol.asyncDispose]();
      await removed();
    };
    const difference = differenceOf(header, run.header);
    if (difference !== undefined) {
      await close();
      throw new EvalError('jobs', difference);
    }
    const { task } = run;
    const samples = new Map<string, Sample<unknown, unknown>>();
    for await (const sample of task.samples()) samples.set(sample.id, sample);
    const scorers = new Map(task.scorers.map((scorer) => [measureKind(scorer.name), scorer]));
    const audio = audioOf(facts);
    return {
      async work(kind, work, context) {
        const { sample: id, ask = '', output } = evalWork.parse(work);
        const sample = samples.get(id);
        const scorer = scorers.get(kind);
        if (sample === undefined || (kind !== solveKind && scorer === undefined))
          throw new EvalError('jobs', `${id}: the worker does not know this ask. Start it again.`);
        return scorer === undefined
          ? task.solve(sample, { ...context, audio })
          : scorer.measure(ask, { sample, output }, { ...context, audio });
      },
      close,
    };
  } catch (fault) {
    await removed();
    throw fault;
  }
}

/** Says why results of this worker would not be comparable with those of the run; undefined if they are. */
function differenceOf(wanted: RunHeader, here: RunHeader): string | undefined {
  const same = (part: (header: RunHeader) => unknown): boolean =>
    JSON.stringify(part(wanted)) === JSON.stringify(part(here));
  if (!same(({ task }) => task)) return 'its task has another version. Use the same version of Dramatis.';
  if (!same(({ data }) => data.hash)) return 'the test data differs from that of the run. Copy it to the same path.';
  if (!same(({ prompts }) => Object.entries(prompts).toSorted(([a], [b]) => (a < b ? -1 : 1))))
    return 'the prompts differ from those of the run. Use the same version of Dramatis, or copy the folder of --prompts.';
  return undefined;
}

/** The recordings of the run, if its folder can be seen from here. */
function audioOf({ folder }: RunFacts): AudioStore {
  const { logFile, audio } = runPaths(folder);
  const requireFolder = (): void => {
    if (existsSync(logFile)) return;
    throw new EvalError(
      'jobs',
      `${folder} is not there. Share it with the worker, at the same path: it keeps the audio.`,
    );
  };
  return {
    async keep(wav) {
      requireFolder();
      return audio.keep(wav);
    },
    async read(name) {
      requireFolder();
      return audio.read(name);
    },
    pathOf: (name) => audio.pathOf(name),
  };
}
