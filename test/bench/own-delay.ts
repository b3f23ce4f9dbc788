import { readFileSync } from 'node:fs';

/** How late the event loop is for work of its own process, whatever else the machine is busy with. */
export interface OwnDelay {
  /** Each look since it was last asked, in milliseconds, the least late first; NaN where the system does not tell who waits for processors. */
  take(): readonly number[];
}

const everyMs = 10;

/** Looks every 10 ms: how late the look comes, less the time that the main thread was ready and waited for a processor. */
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

/** The 99th percentile of such looks. */
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
