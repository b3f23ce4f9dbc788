import { setTimeout as sleep } from 'node:timers/promises';

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
