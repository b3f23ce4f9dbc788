import { readFileSync } from 'node:fs';

/** Event loop delay caused by the process's own work, regardless of other load on the machine. */
export interface OwnDelay {
  /**
   * Samples since the last call, in milliseconds, ascending. NaN if the system does not report the time spent waiting
   * for processors.
   */
  take(): readonly number[];
}

const everyMs = 10;

/** Samples the delay every 10 ms, less the time in which the main thread was runnable but waited for a processor. */
export function watchOwnDelay(): OwnDelay {
  let late: number[] = [];
  let dueMs = performance.now() + everyMs;
  let waited = waitedMs();
  const look = (): void => {
    const now = performance.now();
    const next = waitedMs();
    late.push(Math.max(0, now - dueMs - (next - waited)));
    waited = next;
    dueMs = now + everyMs;
    setTimeout(look, everyMs).unref();
  };
  setTimeout(look, everyMs).unref();
  return {
    take() {
      const sorted = late.toSorted((a, b) => a - b);
      late = [];
      return sorted;
    },
  };
}

/** The 99th percentile of such samples. */
export function p99Of(looks: readonly number[]): number {
  return looks[Math.ceil(0.99 * looks.length) - 1] ?? Number.NaN;
}

/** The second number of proc(5) `schedstat`, of the main thread. */
function waitedMs(): number {
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6;
  } catch {
    return Number.NaN;
  }
}
