import { setTimeout as sleep } from 'node:timers/promises';
import { type CallOptions, EngineError } from '../voices/engine.ts';
import { openLimiter } from '../voices/calls/limiter.ts';

/** Time source, so that tests can inject their own. */
export interface EvalClock {
  /** Monotonic time in milliseconds. */
  now(): number;
  /** Throws `signal.reason` if aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export const machineClock: EvalClock = {
  now: () => performance.now(),
  async sleep(ms, signal) {
    await sleep(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
  },
};

/** Ends a run that has used up its budget; `eval resume` continues it with a larger one. */
export class BudgetReached extends Error {
  override readonly name = 'BudgetReached';
}

/** Cost and time limits of a run. */
export interface Budget {
  /** US dollars, including those of earlier parts of the run. */
  readonly spentDollars: number;
  spend(dollars: number): void;
  /** Throws `BudgetReached`. */
  check(): void;
}

/** Opens a budget. `maxMinutes` counts from now, `maxDollars` from the start of the run. */
export function openBudget(
  limits: { readonly maxDollars?: number | undefined; readonly maxMinutes?: number | undefined },
  { clock, spentDollars }: { readonly clock: EvalClock; readonly spentDollars: number },
): Budget {
  const startMs = clock.now();
  let spent = spentDollars;
  return {
    get spentDollars() {
      return spent;
    },
    spend(dollars) {
      spent += dollars;
    },
    check() {
      const { maxDollars, maxMinutes } = limits;
      if (maxDollars !== undefined && spent >= maxDollars)
        throw new BudgetReached(`--max-cost ${maxDollars} is used up`);
      if (maxMinutes !== undefined && clock.now() - startMs >= maxMinutes * 60_000)
        throw new BudgetReached(`--max-minutes ${maxMinutes} are over`);
    },
  };
}

export interface EndpointLimits {
  /** Maximum concurrent calls. */
  readonly concurrency: number;
  /** Rate limit; unlimited if absent. */
  readonly requestsPerMinute?: number | undefined;
  /** Maximum retries of a call that failed with a transient error. */
  readonly retries: number;
  /** Backoff before the first retry, doubled for each further one; 1000 by default. */
  readonly firstPauseMs?: number;
  /** Maximum backoff; 60,000 by default. */
  readonly longestPauseMs?: number;
}

/** One server called during a run, with a concurrency limit, a rate limit and retries. */
export interface Endpoint {
  readonly name: string;
  readonly running: number;
  /** Retries made so far, over all calls. */
  readonly retries: number;
  /**
   * Makes a call within the limits. `throwIfStopped` is called before each try. Transient `EngineError`s and stand-ins
   * for the system's LLM are retried; the last error is thrown.
   */
  call<Result>(
    work: (options: CallOptions) => Promise<Result>,
    options: CallOptions & { readonly throwIfStopped: () => void },
  ): Promise<Result>;
}

/** Start times of calls that several processes share, so that together they keep to a rate limit. */
export interface SharedTurns {
  /** Reserves the next start; resolves to the milliseconds until then. `gapMs` is the least time between two. */
  reserve(endpoint: string, gapMs: number): Promise<number>;
  /** Lets no process start a call for this long. */
  rest(endpoint: string, ms: number): Promise<void>;
}

/** Calls take this much longer to a minute when several processes make them: they are not equally quick to start. */
const sharedSlackMs = 500;

/** Dependencies of an endpoint. */
export interface EndpointParts {
  /** Present if other processes call the same server under the same rate limit. */
  readonly turns?: SharedTurns | undefined;
  readonly clock: EvalClock;
  /** Jitter for the backoff, so that calls that failed together do not retry together. */
  readonly random: () => number;
}

/** A fallback answered instead of the LLM of the system under test: a failure of the system, never an answer to score. */
export class AgentFallback extends Error {
  override readonly name = 'AgentFallback';
  readonly code = 'agent_fallback';
  /** False if the system has no LLM. */
  readonly retryable: boolean;

  /** `reason` as in `Answer.fallback`. */
  constructor(where: string, reason: string) {
    const advice = 'Check its LLM, or score such replies with --allow-fallback.';
    super(`${where}: a fallback answered instead of the LLM of the system (${reason}). ${advice}`);
    this.retryable = reason !== 'retrieval';
  }
}

/** Opens an endpoint. A server's retry-after time is respected by all calls. */
export function openEndpoint(name: string, limits: EndpointLimits, { clock, random, turns }: EndpointParts): Endpoint {
  const places = openLimiter(limits.concurrency);
  const gapMs = limits.requestsPerMinute === undefined ? 0 : 60_000 / limits.requestsPerMinute;
  const { firstPauseMs = 1_000, longestPauseMs = 60_000 } = limits;
  let nextStartMs = 0;
  let restUntilMs = 0;
  let retries = 0;

  /** Reserves the next free start time; a caller that waits keeps its place in the queue. */
  const waitForTurn = async (signal: AbortSignal): Promise<void> => {
    const sharedMs =
      turns === undefined || limits.requestsPerMinute === undefined
        ? 0
        : await turns.reserve(name, (60_000 + sharedSlackMs) / limits.requestsPerMinute);
    const turnMs = Math.max(clock.now() + sharedMs, nextStartMs);
    nextStartMs = turnMs + gapMs;
    for (let dueMs = turnMs; ; dueMs = restUntilMs) {
      const waitMs = Math.max(dueMs, restUntilMs) - clock.now();
      if (waitMs <= 0) return;
      await clock.sleep(waitMs, signal);
    }
  };
  const pauseAfter = (fault: EngineError | AgentFallback, failures: number): number => {
    const doubledMs = Math.min(longestPauseMs, firstPauseMs * 2 ** (failures - 1));
    if (fault instanceof EngineError && fault.retryAfterMs !== undefined) {
      restUntilMs = Math.max(restUntilMs, clock.now() + fault.retryAfterMs);
      // If Redis is away the others learn of it from their own calls.
      void turns?.rest(name, fault.retryAfterMs).catch(() => undefined);
    }
    return doubledMs * (0.5 + random() / 2);
  };

  return {
    name,
    get running() {
      return places.running;
    },
    get retries() {
      return retries;
    },
    async call(work, { signal, throwIfStopped }) {
      const leave = await places.enter({ signal });
      try {
        for (let failures = 0; ;) {
          await waitForTurn(signal);
          throwIfStopped();
          try {
            return await work({ signal });
          } catch (fault) {
            signal.throwIfAborted();
            failures += 1;
            if (!isTransient(fault) || failures > limits.retries) throw fault;
            retries += 1;
            await clock.sleep(pauseAfter(fault, failures), signal);
          }
        }
      } finally {
        leave();
      }
    },
  };
}

/** Bad replies count as transient too: they may be a gateway's hiccup, and a run has time to retry. */
function isTransient(fault: unknown): fault is EngineError | AgentFallback {
  if (fault instanceof AgentFallback) return fault.retryable;
  return fault instanceof EngineError && (fault.retryable || fault.code === 'ENGINE_BAD_REPLY');
}
