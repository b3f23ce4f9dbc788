import path from 'node:path';
import { parseFlags, requireFlag, requireNone } from '../../server/terminal/flags.ts';
import type { EvalHost } from '../host.ts';
import { jobFlags, jobsWanted, type JobsWanted } from '../jobs/job-flags.ts';
import type { FarRunOptions } from '../jobs/far-run.ts';
import { limitsOf } from '../judge/judge-flags.ts';
import { benchmarkNamed, taskFlag } from './benchmarks.ts';
import { openProgressBar, type ProgressBar } from '../../server/terminal/progress-bar.ts';
import { openBudget, machineClock } from '../limits.ts';
import { EvalError } from '../eval-error.ts';
import { openRunFolder, type RunFolder } from '../run-folder.ts';
import { openRunLog, readRunLog, type RunLog, type RunRecord } from '../run-log.ts';
import { noPriorResults, runTask, type RunProgress } from '../runner.ts';
import type { AnyBenchmark, OpenedRun } from '../benchmark.ts';

/** `dramatis eval run`. */
export async function run(args: readonly string[], host: EvalHost): Promise<number> {
  const benchmark = benchmarkNamed(args);
  const flags = {
    task: taskFlag,
    ...benchmark.flags,
    ...jobFlags,
    out: { type: 'string', value: 'DIR', help: 'folder of the run: log, audio, results' },
  } as const;
  const { synopsis } = benchmark;
  const parsed = parseFlags<string>({ name: 'eval run', synopsis, flags, settings: 'accepted' }, args, host.print);
  if (parsed === undefined) return 0;
  requireNone(parsed.positionals);
  const folder = path.resolve(requireFlag(parsed.values['out'], 'out'));
  const config = await benchmark.configure(parsed);
  const limits = limitsOf(parsed.values);
  const jobs = jobsWanted(parsed.values, host.environment);
  return execute({ benchmark, config, folder, resume: false, secrets: parsed.secrets, jobs, ...limits }, host);
}

export interface ExecuteOptions {
  readonly benchmark: AnyBenchmark;
  readonly config: unknown;
  readonly folder: string;
  readonly resume: boolean;
  /** Server settings that hold keys; kept apart because the configuration is written to the log. */
  readonly secrets: Readonly<Record<string, string | boolean>>;
  /** Absent if the work is done in this process. */
  readonly jobs?: JobsWanted | undefined;
  readonly maxDollars?: number | undefined;
  readonly maxMinutes?: number | undefined;
}

/**
 * Performs a run, or the rest of one, and prints its scores. Resolves to the exit status: 0 if nothing is left to do.
 */
export async function execute(options: ExecuteOptions, host: EvalHost): Promise<number> {
  const { benchmark, config, resume } = options;
  await using folder = await openRunFolder(options.folder);
  const before = resume ? await readRunLog(folder.logFile) : undefined;
  const log = await openRunLog(folder.logFile, { fresh: !resume });
  const at = (): string => new Date().toISOString();
  let ended: string;
  try {
    const { secrets, jobs } = options;
    const opening = { secrets, outputs: before?.outputs, isSolvedElsewhere: jobs !== undefined };
    await using run = await benchmark.open(config, folder.path, host, opening);
    for (const problem of run.problems.slice(0, 10)) host.print(`data: ${problem}`);
    if (run.problems.length > 10)
      host.print(`data: ${run.problems.length - 10} more problems; see \`eval data check\``);
    if (before !== undefined && before.header.data.hash !== run.header.data.hash)
      throw new EvalError(
        'data',
        'The data has changed since the run began. Restore it, or start a new run in another folder.',
      );
    const far = jobs === undefined ? undefined : { wanted: jobs, config, secrets };
    ended = await runLogged(run, before, { folder, log, limits: options, host, far });
    await log.append({ event: 'ended', at: at(), reason: ended });
  } catch (fault) {
    if (!host.signal.aborted) throw fault;
    await log.append({ event: 'ended', at: at(), reason: 'interrupted' });
    ended = 'interrupted';
  } finally {
    await log.close();
  }
  return conclude(benchmark, options.folder, ended, host);
}

/** Appends a new run's header to its log, or that it is resumed, and does what `before` lacks, with a progress bar. */
export async function runLogged(
  run: Pick<OpenedRun, 'task' | 'header' | 'concurrency'>,
  before: RunRecord | undefined,
  { folder, log, limits, host, far }: LoggedOptions,
): Promise<string> {
  const { header } = run;
  const known = before ?? noPriorResults;
  const { spentDollars } = known;
  // Loaded only for runs with workers.
  const farRun = far && (await import('../jobs/far-run.ts'));
  const place = { folder: folder.path, header, log, maxDollars: limits.maxDollars, spentDollars, host };
  const workers = far && (await farRun?.openFarRun(run.task, { ...place, ...far }));
  const progress = openRunProgress(host);
  let isWhole = false;
  try {
    await log.append(before === undefined ? header : { event: 'resumed', at: new Date().toISOString() });
    const ended = await runTask(workers?.task ?? run.task, known, {
      log: workers?.log ?? log,
      audio: folder.audio,
      budget: openBudget(limits, { clock: machineClock, spentDollars }),
      clock: machineClock,
      signal: host.signal,
      concurrency: workers?.concurrency ?? run.concurrency,
      onProgress: (state) => progress.show(state),
    });
    isWhole = ended === 'finished';
    return ended;
  } finally {
    progress.end();
    await workers?.close(isWhole);
  }
}

interface LoggedOptions {
  readonly folder: RunFolder;
  readonly log: RunLog;
  readonly limits: { readonly maxDollars?: number | undefined; readonly maxMinutes?: number | undefined };
  readonly host: EvalHost;
  /** Present if workers do the work. */
  readonly far?: Pick<FarRunOptions, 'wanted' | 'config' | 'secrets'> | undefined;
}

/** Opens the progress bar of a run, with failures and cost so far. */
function openRunProgress(host: EvalHost): { show(state: RunProgress): void; end(): void } {
  let bar: ProgressBar | undefined;
  return {
    show({ total, done, failed, doneNow, spentDollars }) {
      bar ??= openProgressBar({
        already: done - doneNow,
        target: host.progress,
        now: () => machineClock.now(),
      });
      const cost = spentDollars === 0 ? '' : `$${spentDollars.toFixed(2)}`;
      bar.show({ done, of: total, facts: [`${done}/${total}`, failed === 0 ? '' : `${failed} failed`, cost] });
    },
    end: () => bar?.end(),
  };
}

async function conclude(benchmark: AnyBenchmark, folder: string, ended: string, host: EvalHost): Promise<number> {
  const view = await benchmark.read(folder);
  await benchmark.writeResults(view);
  host.print(benchmark.summary(view).text);
  const left = view.record.failures.length;
  if (ended !== 'finished') host.print(`\nNot finished: ${ended}. Continue with: dramatis eval resume ${folder}`);
  else if (left > 0) host.print(`\n${left} tasks failed. Retry them with: dramatis eval resume ${folder}`);
  else host.print(`\nFor a report: dramatis eval report ${folder}`);
  return ended === 'finished' && left === 0 ? 0 : 1;
}
