import type { CallOptions } from '../voices/engine.ts';
import { EngineError } from '../voices/engine.ts';
import { openLimiter } from '../voices/calls/limiter.ts';
import type { EvalClock } from './clock.ts';

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
   * Makes a call within the limits. `throwIfStopped` is called before each try. Transient `EngineError`s are retried; the
   * last error is thrown.
   */
  call<Result>(
    work: (options: CallOptions) => Promise<Result>,
    options: CallOptions & { readonly throwIfStopped: () => void },
  ): Promise<Result>;
}

/** Dependencies of an endpoint. */
export interface EndpointParts {
  readonly clock: EvalClock;
  /** Jitter for the backoff, so that calls that failed together do not retry together. */
  readonly random: () => number;
}

/** Opens an endpoint. A server's retry-after time is respected by all calls. */
export function openEndpoint(name: string, limits: EndpointLimits, { clock, random }: EndpointParts): Endpoint {
  const places = openLimiter(limits.concurrency);
  const gapMs = limits.requestsPerMinute === undefined ? 0 : 60_000 / limits.requestsPerMinute;
  const { firstPauseMs = 1_000, longestPauseMs = 60_000 } = limits;
  let nextStartMs = 0;
  let restUntilMs = 0;
  let retries = 0;

  /** Reserves the next free start time; a caller that waits keeps its place in the queue. */
  const waitForTurn = async (signal: AbortSignal): Promise<void> => {
    const turnMs = Math.max(clock.now(), nextStartMs);
    nextStartMs = turnMs + gapMs;
    for (let dueMs = turnMs; ; dueMs = restUntilMs) {
      const waitMs = Math.max(dueMs, restUntilMs) - clock.now();
      if (waitMs <= 0) return;
      await clock.sleep(waitMs, signal);
    }
  };
  const pauseAfter = (fault: EngineError, failures: number): number => {
    const doubledMs = Math.min(longestPauseMs, firstPauseMs * 2 ** (failures - 1));
    if (fault.retryAfterMs !== undefined) restUntilMs = Math.max(restUntilMs, clock.now() + fault.retryAfterMs);
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
            if (!(fault instanceof EngineError) || !isTransient(fault) || failures > limits.retries) throw fault;
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
function isTransient(fault: EngineError): boolean {
  return fault.retryable || fault.code === 'ENGINE_BAD_REPLY';
}
