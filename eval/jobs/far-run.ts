import type { EvalHost } from '../host.ts';
import type { RunHeader, RunLog } from '../run-log.ts';
import type { Task } from '../task.ts';
import { mostOut } from './coordinator.ts';
import { farTask, placesOf, type FarTask } from './far-task.ts';
import type { JobsWanted } from './job-flags.ts';
import { openJobs } from './open-jobs.ts';

export interface FarRunOptions {
  readonly wanted: JobsWanted;
  readonly folder: string;
  /** Configuration of this part of the run: addresses may be newer than those of the header. */
  readonly config: unknown;
  readonly header: RunHeader;
  readonly log: RunLog;
  readonly maxDollars: number | undefined;
  readonly spentDollars: number;
  readonly secrets: Readonly<Record<string, string | boolean>>;
  readonly host: Pick<EvalHost, 'jobs' | 'note'>;
}

/** A run with workers. */
export interface FarRun<Input, Target, Output> extends FarTask<Input, Target, Output> {
  /** Samples in progress at a time. */
  readonly concurrency: number;
  /** Ends it; `isWhole` if nothing is left to do. */
  close(isWhole: boolean): Promise<void>;
}

/** Has workers do the work of an evaluation. The caller closes it. Throws `EvalError`. */
export async function openFarRun<Input, Target, Output>(
  task: Task<Input, Target, Output>,
  { wanted, folder, config, header, log, maxDollars, spentDollars, secrets, host }: FarRunOptions,
): Promise<FarRun<Input, Target, Output>> {
  const kinds = placesOf(task, config);
  const facts = { work: 'eval', folder, about: { header, config }, kinds, maxDollars } as const;
  const jobs = await openJobs({ wanted, facts, spentDollars, secrets, host });
  return {
    ...farTask(task, log, jobs.coordinator),
    concurrency: Math.max(1, Math.floor(mostOut / Math.max(1, await asksOf(task)))),
    close: (isWhole) => jobs.close(isWhole),
  };
}

/** Measurements that the first sample needs; the others need about as many. */
async function asksOf<Input, Target, Output>(task: Task<Input, Target, Output>): Promise<number> {
  for await (const sample of task.samples())
    return task.scorers.reduce((sum, scorer) => sum + scorer.measurementKeys(sample).length, 0);
  return 0;
}
