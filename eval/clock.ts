import { setTimeout as sleep } from 'node:timers/promises';

/** Time, so that tests can bring their own. */
export interface EvalClock {
  /** Milliseconds, monotonic. */
  now(): number;
  /** Throws `signal.reason` when aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export const machineClock: EvalClock = {
  now: () => performance.now(),
  async sleep(ms, signal) {
    await sleep(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
  },
};
