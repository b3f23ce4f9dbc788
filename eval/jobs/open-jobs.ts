import { setTimeout as wait } from 'node:timers/promises';
import { rm } from 'node:fs/promises';
import { packageVersion } from '../../server/terminal/version.ts';
import { EvalError } from '../eval-error.ts';
import type { JobsHost } from '../host.ts';
import { Coordinator } from './coordinator.ts';
import { placeOf, type JobsWanted } from './job-flags.ts';
import { readRunId, runIdFile, type RunFacts } from './run-facts.ts';
import { JobStore } from './store.ts';

/** A worker that ends by itself is started again after this time. */
const restartMs = 1_000;
/** More ends of workers than this within a minute are no accident. */
const mostEndsPerMinute = 20;

export interface JobsOptions {
  readonly wanted: JobsWanted;
  readonly facts: Pick<RunFacts, 'work' | 'folder' | 'about' | 'kinds'> & { readonly maxDollars: number | undefined };
  /** US dollars that the run has cost so far. */
  readonly spentDollars: number;
  readonly secrets: Readonly<Record<string, string | boolean>>;
  readonly host: { readonly jobs?: JobsHost; readonly note: (text: string) => void };
}

/** The workers of a run, and the coordinator that gives them work. */
export interface OpenedJobs {
  readonly coordinator: Coordinator;
  /** Ends it. If the run is whole, nothing of it stays in Redis. */
  close(isWhole: boolean): Promise<void>;
}

/** Announces a run to workers, and starts its own workers. The caller closes it. Throws `EvalError`. */
export async function openJobs({ wanted, facts, spentDollars, secrets, host }: JobsOptions): Promise<OpenedJobs> {
  const { jobs, note } = host;
  if (jobs === undefined && (wanted.url === undefined || wanted.workers > 0))
    throw new EvalError(
      'usage',
      'Workers cannot be started here. Give --jobs alone, and start them with `dramatis worker`.',
    );
  const redis = wanted.url === undefined ? await jobs?.startRedis() : undefined;
  const url = wanted.url ?? redis?.url ?? '';
  let isAway = false;
  const onFault = (fault: Error): void => {
    if (!isAway) note(`The store at ${placeOf(url)}: ${fault.message}. Trying again.`);
    isAway = true;
  };
  const store = await JobStore.open(url, onFault).catch((fault: unknown) => {
    redis?.stop();
    throw fault;
  });
  const { folder, maxDollars = null } = facts;
  const run: RunFacts = {
    ...facts,
    maxDollars,
    id: await readRunId(folder),
    version: packageVersion(),
    leaseMs: wanted.leaseMs,
  };
  const advice = `No worker has answered yet. Start one, here or on other machines: dramatis worker --jobs ${placeOf(url)}`;
  const coordinator = new Coordinator(store, run, { spentDollars, note, advice });
  await coordinator.begin();
  const workers =
    jobs === undefined ? undefined : keepWorkers(wanted.workers, () => jobs.startWorker({ url, secrets }), note);
  return {
    coordinator,
    async close(isWhole) {
      await workers?.stop();
      await coordinator.close({ isWhole });
      await store.close();
      redis?.stop();
      if (isWhole) await rm(runIdFile(folder), { force: true });
    },
  };
}

/** Keeps a number of workers running: one that ends by itself is replaced, unless they end again and again. */
function keepWorkers(
  count: number,
  start: () => ReturnType<JobsHost['startWorker']>,
  note: (text: string) => void,
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const endsAtMs: number[] = [];
  const keep = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const worker = start();
      const onStop = (): void => worker.stop();
      stopping.signal.addEventListener('abort', onStop, { once: true });
      await worker.ended;
      stopping.signal.removeEventListener('abort', onStop);
      if (stopping.signal.aborted) return;
      const nowMs = performance.now();
      endsAtMs.push(nowMs);
      if (endsAtMs.filter((atMs) => nowMs - atMs < 60_000).length > mostEndsPerMinute) {
        note('Workers ended repeatedly, so this one is not restarted. Stop the run and read their messages.');
        return;
      }
      note('A worker has ended. Another one is started, and other workers take over its work.');
      await wait(restartMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const kept = Array.from({ length: count }, keep);
  return {
    async stop() {
      stopping.abort();
      await Promise.all(kept);
    },
  };
}
