import { hostname } from 'node:os';
import { numberFlag, parseFlags, requireNone, textFlag, UsageError } from '../../server/terminal/flags.ts';
import type { EvalHost } from '../host.ts';
import { jobsVariable, requireJobsUrl } from '../jobs/job-flags.ts';
import { metricsAddress, openAskFigures, serveFigures } from './ask-figures.ts';
import { openWork } from './open-run.ts';
import { work } from './worker.ts';

const defaultDrainSeconds = 60;

const flags = {
  jobs: { type: 'string', value: 'URL', help: `Redis or PostgreSQL of the jobs (default $${jobsVariable})` },
  concurrency: { type: 'string', value: 'N', help: 'concurrent asks of each kind (default: as set by the run)' },
  'drain-seconds': {
    type: 'string',
    value: 'N',
    help: `when stopped, time to finish current work; the rest is handed back (default ${defaultDrainSeconds})`,
  },
  metrics: {
    type: 'string',
    value: '[HOST:]PORT',
    help: 'serve figures for Prometheus at /metrics (host: 127.0.0.1 unless given)',
  },
} as const;

/** Signals that stop a worker, lent by the surrounding program. */
export interface WorkerStops {
  /** Called for each request to stop: the first finishes the work in progress, the second gives it back. */
  onStop(stop: () => void): void;
  /** Called back when the program that started this one is gone. */
  onAlone(quit: () => void): void;
}

/** `dramatis worker`. */
export async function runWorker(args: readonly string[], host: EvalHost, stops: WorkerStops): Promise<number> {
  const about =
    'Shares the work of runs started with --jobs on the same Redis or PostgreSQL: `eval run`, `eval resume`, `data build`. ' +
    'It needs the same version of Dramatis, the test data at the same path, and the API keys in its environment.';
  const command = { name: 'worker', synopsis: '--jobs URL [--concurrency N]', about, flags };
  const parsed = parseFlags(command, args, host.print);
  if (parsed === undefined) return 0;
  requireNone(parsed.positionals);
  const { values } = parsed;
  const url = textFlag(values.jobs) ?? textFlag(host.environment[jobsVariable]);
  if (url === undefined)
    throw new UsageError(`--jobs is required: the Redis or PostgreSQL that the run names (or ${jobsVariable}).`);
  requireJobsUrl(url);
  const drain = numberFlag(values['drain-seconds'], 'drain-seconds', { min: 0, max: 3_600 }) ?? defaultDrainSeconds;
  const metrics = textFlag(values.metrics);
  const figures = metrics === undefined ? undefined : openAskFigures();
  const served = figures && (await serveFigures(figures, metricsAddress(metrics ?? '')));
  const [stop, quit] = [new AbortController(), new AbortController()];
  let timer: NodeJS.Timeout | undefined;
  const giveBack = (): void => {
    stop.abort();
    quit.abort();
  };
  stops.onStop(() => {
    if (stop.signal.aborted) return giveBack();
    stop.abort();
    timer = setTimeout(giveBack, drain * 1_000);
  });
  stops.onAlone(giveBack);
  try {
    await work({
      url,
      atOnce: numberFlag(values.concurrency, 'concurrency', { min: 1, max: 1_024, isWhole: true }),
      name: `${hostname()}:${process.pid}`,
      print: host.print,
      note: host.note,
      figures,
      open: (facts, services) => openWork(facts, { host, ...services }),
      stop: stop.signal,
      quit: quit.signal,
    });
    return 0;
  } finally {
    clearTimeout(timer);
    served?.close();
  }
}
