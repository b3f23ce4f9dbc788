import { openFarRun } from '../../../eval/jobs/far-run.ts';
import { openBudget, machineClock, openEndpoint } from '../../../eval/limits.ts';
import { openRunFolder } from '../../../eval/run-folder.ts';
import { openRunLog, readRunLog } from '../../../eval/run-log.ts';
import { noPriorResults, runTask } from '../../../eval/runner.ts';
import { work } from '../../../eval/worker/worker.ts';
import { Redis } from 'ioredis';
import { countingTask, plainHeader } from '../../eval/counting-task.ts';

/** What a process for the jobs of a bench does; given as JSON in its first argument. */
export interface JobsProcess {
  readonly url: string;
  /** Folder of the run, for its coordinator; absent in a worker. */
  readonly folder?: string;
  readonly samples?: number;
  /** Duration of an ask in a worker, ms. */
  readonly delayMs?: number;
  /** Calls a minute that all workers may make together. */
  readonly rpm?: number;
  /** Redis that counts the calls, and keeps their times; absent: they are not counted. */
  readonly countsUrl?: string;
  readonly atOnce: number;
  readonly leaseMs?: number;
}

const {
  url,
  folder,
  samples = 0,
  delayMs = 0,
  rpm,
  countsUrl,
  atOnce,
  leaseMs = 30_000,
} = JSON.parse(process.argv[2] ?? '{}') as JobsProcess;
const { signal } = new AbortController();

/** Config of a run whose asks have places in each worker, or in all together if their rate is limited. */
const config = { agent: rpm === undefined ? 'ours' : 'chat', agentConcurrency: atOnce };

async function coordinate(place: string): Promise<void> {
  await using opened = await openRunFolder(place);
  const known = await readRunLog(opened.logFile).catch(() => noPriorResults);
  const log = await openRunLog(opened.logFile);
  if (known === noPriorResults) await log.append(plainHeader);
  const wanted = { url, workers: 0, leaseMs };
  const host = { note: () => undefined };
  const limits = { maxDollars: undefined, spentDollars: known.spentDollars, secrets: {} };
  const far = await openFarRun(countingTask(samples), {
    wanted,
    folder: place,
    config,
    header: plainHeader,
    log,
    host,
    ...limits,
  });
  const budget = openBudget({}, { clock: machineClock, spentDollars: known.spentDollars });
  const options = { audio: opened.audio, budget, clock: machineClock, signal, concurrency: far.concurrency };
  await runTask(far.task, known, { ...options, log: far.log });
  await far.close(true);
  await log.close();
}

async function serve(): Promise<void> {
  const counter = countsUrl === undefined ? undefined : new Redis(countsUrl);
  const stop = new AbortController();
  process.once('SIGTERM', () => stop.abort());
  await work({
    url,
    atOnce,
    name: `${process.pid}`,
    print: (text) => process.stdout.write(`${text}\n`),
    note: () => undefined,
    stop: stop.signal,
    quit: signal,
    open: async (_facts, { turns }) => {
      const limits = { concurrency: atOnce, requestsPerMinute: rpm, retries: 0 };
      const endpoint = openEndpoint('model', limits, { clock: machineClock, random: () => 0.5, turns });
      return {
        async work(_kind, ask, context) {
          return endpoint.call(async () => {
            // Whatever is called sees the call when it begins.
            await counter
              ?.multi()
              .rpush('bench-at', performance.timeOrigin + performance.now())
              .incr('bench-calls')
              .exec();
            if (delayMs > 0) await machineClock.sleep(delayMs, context.signal);
            return { ask };
          }, context);
        },
        close: () => Promise.resolve(),
      };
    },
  });
  counter?.disconnect();
}

await (folder === undefined ? serve() : coordinate(folder));
