import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';

/** A server in a separate process, so that its memory and CPU can be told from the bench's. */
export interface ServerProcess {
  readonly url: string;
  /** Resident memory in MiB; NaN if the system does not report it. */
  memoryMib(): number;
  /** CPU seconds used so far by all its threads. */
  cpuSeconds(): number;
  stop(): Promise<void>;
  /** kill -9. */
  kill(): Promise<void>;
}

/** Starts the server on a free loopback port and waits until it is ready. */
export async function startServerProcess(environment: Readonly<Record<string, string>> = {}): Promise<ServerProcess> {
  const main = path.resolve(import.meta.dirname, '../../../server/main.ts');
  const child = spawn(process.execPath, [main, 'serve'], {
    env: { ...process.env, PORT: '0', HOST: '127.0.0.1', DRAMATIS_LOG_LEVEL: 'error', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /Dramatis is ready: (\S+)/.exec(line)?.[1];
    if (url === undefined) continue;
    child.stdout.resume();
    return {
      url,
      memoryMib: () => Number(/VmRSS:\s+(\d+)/.exec(procFile(child.pid, 'status'))?.[1] ?? Number.NaN) / 1024,
      cpuSeconds: () => cpuSecondsOf(child.pid),
      async stop() {
        child.kill('SIGTERM');
        await exited;
      },
      async kill() {
        child.kill('SIGKILL');
        await exited;
      },
    };
  }
  throw new Error('the server ended before it was ready');
}

/** CPU seconds that a process has used so far; NaN if it has ended. */
export function cpuSecondsOf(pid: number | undefined): number {
  // Fields 14 and 15 of proc(5) `stat`, in clock ticks of 10 ms.
  const fields = procFile(pid, 'stat').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function procFile(pid: number | undefined, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}
