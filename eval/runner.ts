import { openLimiter } from '../voices/calls/limiter.ts';
import { EngineError } from '../voices/engine.ts';
import type { AudioStore } from './run-folder.ts';
import { BudgetReached, type Budget, type EvalClock } from './limits.ts';
import { measurementKey, type RunLog, type RunRecord } from './run-log.ts';
import type { EvalContext, Sample, Scorer, Task } from './task.ts';

/** Progress of a run. */
export interface RunProgress {
  /** Outputs and measurements that the run needs, counted alike. */
  readonly total: number;
  readonly done: number;
  readonly failed: number;
  /** Completed in this part of the run, since it was started or resumed. */
  readonly doneNow: number;
  readonly spentDollars: number;
}

export interface RunnerOptions {
  readonly log: RunLog;
  readonly audio: AudioStore;
  readonly budget: Budget;
  readonly clock: EvalClock;
  readonly signal: AbortSignal;
  /** Samples processed concurrently; the endpoints have limits of their own. */
  readonly concurrency: number;
  /** Called after every completed or failed step. */
  readonly onProgress?: (state: RunProgress) => void;
}

/** Results of earlier parts of the run; empty for a new run. */
export type PriorResults = Pick<RunRecord, 'samples' | 'outputs' | 'measured' | 'spentDollars'>;

export const noPriorResults: PriorResults = {
  samples: new Map(),
  outputs: new Map(),
  measured: new Map(),
  spentDollars: 0,
};

/**
 * Runs what is left of a task; known results are not computed again. Failures are logged, and the rest continues.
 * Resolves to the reason it ended: `finished`, or the budget's message. Throws `signal.reason` if aborted; work in
 * progress is then lost, finished work is in the log.
 */
export async function runTask<Input, Target, Output>(
  task: Task<Input, Target, Output>,
  known: PriorResults,
  options: RunnerOptions,
): Promise<string> {
  const run = new TaskRunner(task, known, options);
  await run.prepare();
  try {
    await run.go();
  } catch (fault) {
    options.signal.throwIfAborted();
    if (!(fault instanceof BudgetReached)) throw fault;
    return fault.message;
  }
  return 'finished';
}

class TaskRunner<Input, Target, Output> {
  readonly #task: Task<Input, Target, Output>;
  readonly #known: PriorResults;
  readonly #options: RunnerOptions;
  /** First error or budget stop; set once. */
  #stopped: unknown;
  #state = { total: 0, done: 0, failed: 0, doneNow: 0 };

  constructor(task: Task<Input, Target, Output>, known: PriorResults, options: RunnerOptions) {
    this.#task = task;
    this.#known = known;
    this.#options = options;
  }

  /** Writes all samples to the log and counts the work to do. */
  async prepare(): Promise<void> {
    for await (const sample of this.#task.samples()) {
      if (!this.#known.samples.has(sample.id)) {
        const about = this.#task.describe(sample);
        await this.#options.log.append({ event: 'sample', sample: sample.id, about });
      }
      const left = this.#asksLeft(sample);
      const asks = this.#task.scorers.reduce((sum, scorer) => sum + scorer.measurementKeys(sample).length, 0);
      this.#state.total += 1 + asks;
      this.#state.done += asks - left.length + (this.#known.outputs.has(sample.id) ? 1 : 0);
    }
    this.#tell();
  }

  async go(): Promise<void> {
    const places = openLimiter(this.#options.concurrency);
    const { signal } = this.#options;
    const underWay = new Set<Promise<void>>();
    try {
      for await (const sample of this.#task.samples()) {
        if (this.#known.outputs.has(sample.id) && this.#asksLeft(sample).length === 0) continue;
        const leave = await places.enter({ signal });
        if (this.#stopped !== undefined) break;
        const work = this.#process(sample)
          .catch((fault: unknown) => void (this.#stopped ??= fault))
          .finally(() => {
            leave();
            underWay.delete(work);
          });
        underWay.add(work);
      }
    } finally {
      // Waits for all work, so that nothing writes to the log afterwards.
      await Promise.all(underWay);
    }
    if (this.#stopped !== undefined) throw this.#stopped as Error;
  }

  #asksLeft(sample: Sample<Input, Target>): { scorer: Scorer<Input, Target, Output>; ask: string }[] {
    const measured = this.#known.measured.get(sample.id);
    return this.#task.scorers.flatMap((scorer) =>
      scorer
        .measurementKeys(sample)
        .filter((ask) => measured?.has(measurementKey(scorer.name, ask)) !== true)
        .map((ask) => ({ scorer, ask })),
    );
  }

  async #process(sample: Sample<Input, Target>): Promise<void> {
    const { log } = this.#options;
    let output = this.#known.outputs.get(sample.id) as Output | undefined;
    if (output === undefined) {
      const made = await this.#attempt({ sample: sample.id }, (context) => this.#task.solve(sample, context));
      if (made === undefined) return;
      output = made.value;
      await log.append({ event: 'output', sample: sample.id, output, ms: made.ms });
      this.#count('done');
    }
    const solved = { sample, output };
    const asked = await Promise.allSettled(
      this.#asksLeft(sample).map(async ({ scorer, ask }) => {
        const about = { sample: sample.id, scorer: scorer.name, ask };
        const made = await this.#attempt(about, (context) => scorer.measure(ask, solved, context));
        if (made === undefined) return;
        const { value, ms, dollars } = made;
        await log.append({ event: 'measured', ...about, value, ms, ...(dollars === 0 ? {} : { cost: dollars }) });
        this.#count('done');
      }),
    );
    for (const each of asked) if (each.status === 'rejected') throw each.reason;
  }

  /** Resolves to undefined after logging a failure. Throws only if the whole run has to end. */
  async #attempt<Value>(
    about: { readonly sample: string; readonly scorer?: string; readonly ask?: string },
    work: (context: EvalContext) => Promise<Value>,
  ): Promise<{ readonly value: Value; readonly ms: number; readonly dollars: number } | undefined> {
    const { signal, audio, budget, clock, log } = this.#options;
    let dollars = 0;
    const context: EvalContext = {
      signal,
      audio,
      throwIfStopped: () => {
        signal.throwIfAborted();
        budget.check();
      },
      spend(cost) {
        dollars += cost;
        budget.spend(cost);
      },
    };
    context.throwIfStopped();
    const startMs = clock.now();
    try {
      const value = await work(context);
      return { value, ms: Math.round(clock.now() - startMs), dollars };
    } catch (fault) {
      signal.throwIfAborted();
      if (fault instanceof BudgetReached) throw fault;
      const code = fault instanceof EngineError || hasCode(fault) ? fault.code : 'internal_error';
      const message = fault instanceof Error ? fault.message : String(fault);
      await log.append({ event: 'failed', ...about, code, message });
      this.#count('failed');
      return undefined;
    }
  }

  #count(what: 'done' | 'failed'): void {
    this.#state[what] += 1;
    if (what === 'done') this.#state.doneNow += 1;
    this.#tell();
  }

  #tell(): void {
    this.#options.onProgress?.({ ...this.#state, spentDollars: this.#options.budget.spentDollars });
  }
}

function hasCode(fault: unknown): fault is { readonly code: string } {
  return fault instanceof Error && 'code' in fault && typeof fault.code === 'string';
}
