import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';

/** Of a process that may wait: `nice 10`. */
const backgroundPriority = 10;

/**
 * Lets the thread it is called in give way to all others, where the system can tell it (Linux): a long job then takes what live
 * sessions leave. Elsewhere it does nothing.
 */
export function runInBackground(): void {
  try {
    // `PID/task/TID`; the priority of a TID is that of its thread alone.
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
    if (Number.isInteger(thread) && thread > 0) setPriority(thread, backgroundPriority);
  } catch {
    // No such system, or it does not let us: the job runs as fast as the others.
  }
}
