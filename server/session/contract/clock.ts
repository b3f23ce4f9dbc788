/** Wall time for pacing and measuring, separate from audio time, which decides turns. Tests bring their own. */
export interface Clock {
  /** Monotonic milliseconds. */
  now(): number;
  /** Resolves after `ms`; rejects with `signal.reason` when aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Runs `run` after `ms`, unless the returned function is called first. */
  after(ms: number, run: () => void): () => void;
  /** Runs `run` every `ms`, until the returned function is called. */
  every(ms: number, run: () => void): () => void;
}

/** The machine's monotonic clock. */
export const systemClock: Clock = {
  now: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const onAbort = (): void => {
        clearTimeout(timer);
        reject(signal.reason);
      };
      const timer = setTimeout(() => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      }, ms);
      signal.addEventListener('abort', onAbort, { once: true });
    }),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  every: (ms, run) => {
    const timer = setInterval(run, ms);
    return () => clearInterval(timer);
  },
};
