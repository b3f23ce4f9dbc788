import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';

/** Nice value of background work: `nice 10`. */
const backgroundPriority = 10;

/** Lowers the calling thread's priority (Linux only), so that a long job uses only the time live sessions leave. */
export function runInBackground(): void {
  try {
    // `PID/task/TID`; setting the priority of a TID affects only that thread.
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
    if (Number.isInteger(thread) && thread > 0) setPriority(thread, backgroundPriority);
  } catch {
    // Not supported, or not permitted: the job runs at normal priority.
  }
}
