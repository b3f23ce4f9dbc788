import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';

/** Returns a loopback port that is free now, for servers one after the other. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

const serverProgram = path.join(import.meta.dirname, 'server-process.ts');

/**
 * Loads a server on fake engines in its own process (`server-process.ts`, perhaps that of another version), to listen
 * and to be killed.
 */
export function loadServer(
  port: number,
  environment: Readonly<Record<string, string>>,
  program: string = serverProgram,
) {
  const child = spawn(process.execPath, [program], {
    env: { ...process.env, PORT: `${port}`, HOST: '127.0.0.1', ...environment },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  /** Returns false if the process ended before it said this. */
  const told = async (line: string): Promise<boolean> => {
    let next = await lines.next();
    while (next.done !== true && next.value !== line) next = await lines.next();
    return next.done !== true;
  };
  const loaded = told('loaded');
  return {
    pid: child.pid ?? 0,
    async listen() {
      const isLoaded = await loaded;
      if (isLoaded) child.stdin.write('\n');
      if (!isLoaded || !(await told('listening'))) throw new Error('the server ended before it listened');
      return `http://127.0.0.1:${port}`;
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
    /** Stops it as an operator does, and waits until it has ended. */
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
    /** Makes the process sleep (SIGSTOP), or wakes it (SIGCONT). */
    signal: (name: 'SIGSTOP' | 'SIGCONT') => void child.kill(name),
  };
}
