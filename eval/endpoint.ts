import type { CallOptions } from '../voices/engine.ts';
import { EngineError } from '../voices/engine.ts';
import { openLimiter } from '../voices/calls/limiter.ts';
import type { EvalClock } from './clock.ts';

export interface EndpointLimits {
  /** Calls at a time. */
  readonly concurrency: number;
  /** Absent: as many as come. */
  readonly requestsPerMinute?: number | undefined;
  /** Further tries of a call that failed in a way that may pass. */
  readonly retries: number;
  /** Before the first of them; doubled for each further one. 1000 unless given. */
  readonly firstPauseMs?: number;
  /** 60,000 unless given. */
  readonly longestPauseMs?: number;
}

/** One server that a run calls: how many calls at a time, how many a minute, and again after failures. */
export interface Endpoint {
  readonly name: string;
  readonly running: number;
  /** Tries beyond the first of each call. */
  readonly retries: number;
  /**
   * Makes a call in its turn. `mayStart` is asked before each try. A call that fails with an `EngineError` that may pass
   * is tried again; the last error is thrown.
   */
  call<Result>(
    work: (options: CallOptions) => Promise<Result>,
    options: CallOptions & { readonly mayStart: () => void },
  ): Promise<Result>;
}

/** What an endpoint is made with besides its limits. */
export interface EndpointParts {
  readonly clock: EvalClock;
  /** Spreads the tries of calls that failed together. */
  readonly random: () => number;
}

/** Opens an endpoint. A server that says when it wants to be asked again is believed, for all calls. */
export function openEndpoint(name: string, limits: EndpointLimits, { clock, random }: EndpointParts): Endpoint {
  const places = openLimiter(limits.concurrency);
  const gapMs = limits.requestsPerMinute === undefined ? 0 : 60_000 / limits.requestsPerMinute;
  const { firstPauseMs = 1_000, longestPauseMs = 60_000 } = limits;
  let nextStartMs = 0;
  let restUntilMs = 0;
  let retries = 0;

  /** Each takes the next free moment; whoever waits for it keeps its place. */
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
    async call(work, { signal, mayStart }) {
      const leave = await places.enter({ signal });
      try {
        for (let failures = 0; ;) {
          await waitForTurn(signal);
          mayStart();
          try {
            return await work({ signal });
          } catch (fault) {
            signal.throwIfAborted();
            failures += 1;
            if (!(fault instanceof EngineError) || !mayPass(fault) || failures > limits.retries) throw fault;
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

/** Garbage, too, may be a gateway's bad moment, and a run has the time to ask again. */
function mayPass(fault: EngineError): boolean {
  return fault.retryable || fault.code === 'ENGINE_BAD_REPLY';
}
