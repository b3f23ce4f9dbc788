import path from 'node:path';
import { openProgressBar, type ProgressBar } from '../../server/terminal/progress-bar.ts';
import { openBudget } from '../budget.ts';
import { machineClock } from '../clock.ts';
import { EvalError } from '../eval-error.ts';
import type { EvalHost } from '../host.ts';
import { openRunFolder } from '../run-folder.ts';
import { openRunLog, readRunLog } from '../run-log.ts';
import { noPriorResults, runTask, type RunProgress } from '../runner.ts';
import { resultsJson } from '../speechrole/summary/export.ts';
import { openRun } from '../speechrole/open-run.ts';
import type { RunConfig } from '../speechrole/run-config.ts';
import { readRun } from '../speechrole/run-view.ts';
import { summaryText } from '../speechrole/summary/score-text.ts';
import { summarizeRun } from '../speechrole/summary/summary.ts';
import { writeFileAtomic } from '../../voices/runtime/write-file-atomic.ts';

export interface ExecuteOptions {
  readonly config: RunConfig;
  readonly folder: string;
  readonly resume: boolean;
  /** Server settings that hold keys; kept apart because the configuration is written to the log. */
  readonly secrets: Readonly<Record<string, string | boolean>>;
  readonly maxDollars?: number | undefined;
  readonly maxMinutes?: number | undefined;
}

/**
 * Performs a run, or the rest of one, and prints its scores. Resolves to the exit status: 0 if nothing is left to do.
 */
export async function execute(options: ExecuteOptions, host: EvalHost): Promise<number> {
  const { config, resume } = options;
  await using folder = await openRunFolder(options.folder);
  const before = resume ? await readRunLog(folder.logFile) : undefined;
  const known = before ?? noPriorResults;
  const log = await openRunLog(folder.logFile, { fresh: !resume });
  const at = (): string => new Date().toISOString();
  let ended: string;
  try {
    await using run = await openRun(config, folder.path, host, {
      secrets: options.secrets,
      outputs: known.outputs,
    });
    for (const problem of run.problems.slice(0, 10)) host.print(`data: ${problem}`);
    if (run.problems.length > 10)
      host.print(`data: ${run.problems.length - 10} more problems; see \`eval data check\``);
    if (before !== undefined && before.header.data.hash !== run.header.data.hash)
      throw new EvalError('data', 'The data has changed since the run began, so the scores would not be comparable.');
    await log.append(resume ? { event: 'resumed', at: at() } : run.header);
    const budget = openBudget(options, { clock: machineClock, spentDollars: known.spentDollars });
    const progress = openRunProgress(host);
    try {
      ended = await runTask(run.task, known, {
        log,
        audio: folder.audio,
        budget,
        clock: machineClock,
        signal: host.signal,
        concurrency: run.concurrency,
        onProgress: (state) => progress.show(state),
      });
    } finally {
      progress.end();
    }
    await log.append({ event: 'ended', at: at(), reason: ended });
  } catch (fault) {
    if (!host.signal.aborted) throw fault;
    await log.append({ event: 'ended', at: at(), reason: 'interrupted' });
    ended = 'interrupted';
  } finally {
    await log.close();
  }
  return conclude(options.folder, ended, host);
}

/** Opens the progress bar of a run, with failures and cost so far. */
export function openRunProgress(host: EvalHost): { show(state: RunProgress): void; end(): void } {
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

async function conclude(folder: string, ended: string, host: EvalHost): Promise<number> {
  const view = await readRun(folder);
  const summary = summarizeRun(view);
  await writeFileAtomic(path.join(folder, 'results.json'), resultsJson(view));
  host.print(summaryText(summary));
  const left = view.record.failures.length;
  if (ended !== 'finished') host.print(`\nNot finished: ${ended}. Continue with: dramatis eval resume ${folder}`);
  else if (left > 0) host.print(`\n${left} tasks failed. Retry them with: dramatis eval resume ${folder}`);
  else host.print(`\nFor a report: dramatis eval report ${folder}`);
  return ended === 'finished' && left === 0 ? 0 : 1;
}
