import type { RunFacts } from '../jobs/run-facts.ts';
import type { SharedTurns } from '../limits.ts';
import type { EvalHost } from '../host.ts';
import type { EvalContext } from '../task.ts';

/** A run as a worker has opened it. */
export interface OpenedWork {
  /** Does an ask; the result is JSON. */
  work(kind: string, ask: unknown, context: Omit<EvalContext, 'audio'>): Promise<unknown>;
  close(): Promise<void>;
}

/** Parts that opening a run needs. */
export interface WorkServices {
  readonly host: EvalHost;
  readonly turns: SharedTurns;
  /** Aborted when the worker gives back its work. */
  readonly signal: AbortSignal;
}

/** Opens a run for its asks. Throws an `EvalError` if this worker cannot do them as the run's own machine would. */
export async function openWork(facts: RunFacts, services: WorkServices): Promise<OpenedWork> {
  // Each is loaded when a run needs it.
  if (facts.work === 'eval') return (await import('./open-eval.ts')).openEvalWork(facts, services);
  return (await import('./open-build.ts')).openBuildWork(facts, services);
}
