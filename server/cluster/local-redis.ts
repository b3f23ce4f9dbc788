import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { ConfigError } from '../config/config.ts';

const programs = ['redis-server', 'valkey-server'] as const;
const readyMs = 10_000;

/** A Redis of this process on a free loopback port, in memory only. */
export interface LocalRedis {
  /** With its password, which no other process gets. */
  readonly url: string;
  readonly pid: number;
  /** Settles when it has ended, by itself or by `stop`. */
  readonly ended: Promise<void>;
  stop(): void;
}

/**
 * Starts `redis-server` or `valkey-server`; at the URL of one that has ended, if given. Throws `ConfigError` if neither
 * is installed, or it does not start.
 */
export async function startLocalRedis(again?: string): Promise<LocalRedis> {
  const url = new URL(again ?? `redis://:${randomBytes(24).toString('base64url')}@127.0.0.1:${await freePort()}`);
  // Read from standard input, because the arguments of a process can be seen by all users of the machine.
  const settings = [
    `port ${url.port}`,
    `requirepass ${url.password}`,
    'bind 127.0.0.1',
    'save ""',
    'appendonly no',
    'maxmemory-policy noeviction',
  ].join('\n');
  for (const program of programs) {
    const child = spawn(program, ['-'], { stdio: ['pipe', 'pipe', 'ignore'] });
    const isInstalled = await Promise.race([
      once(child, 'spawn').then(() => true),
      once(child, 'error').then(() => false),
    ]);
    if (!isInstalled) continue;
    child.stdin.end(`${settings}\n`);
    const ended = once(child, 'exit').then(() => undefined);
    await readyOf(child, ended, program);
    return { url: url.href, pid: child.pid ?? 0, ended, stop: () => void child.kill() };
  }
  throw new ConfigError(
    'Several nodes share a Redis, and neither redis-server nor valkey-server is installed. Install one ' +
      '(Debian: apt-get install redis-server; macOS: brew install redis), or leave --nodes out.',
  );
}

async function readyOf(child: ChildProcess, ended: Promise<void>, program: string): Promise<void> {
  const lines = createInterface({ input: child.stdout as NonNullable<typeof child.stdout> });
  const ready = new Promise<boolean>((resolve) => {
    lines.on('line', (line) => {
      if (line.includes('Ready to accept connections')) resolve(true);
    });
    void ended.then(() => resolve(false));
    setTimeout(() => resolve(false), readyMs).unref();
  });
  if (await ready) return;
  child.kill();
  throw new ConfigError(`${program} did not start. Run it by hand to see why: ${program} --port 0`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
