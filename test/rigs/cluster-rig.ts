import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { freePort, loadServer } from './kill-rig.ts';

/** True if Debian's `redis-server` is installed. */
export const hasRedis = spawnSync('redis-server', ['--version']).status === 0;

/** A real Redis on a loopback port, without persistence, with more options of `redis-server` if given. */
export async function startRedis(port: number, more: readonly string[] = []) {
  const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-redis-'));
  const options = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder];
  const child = spawn('redis-server', [...options, ...more], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  for await (const line of createInterface({ input: child.stdout })) if (line.includes('Ready to accept')) break;
  child.stdout.resume();
  return {
    url: `redis://127.0.0.1:${port}`,
    signal: (name: 'SIGSTOP' | 'SIGCONT') => void child.kill(name),
    async kill() {
      child.kill('SIGKILL');
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Debian keeps the programs of PostgreSQL off PATH, in a folder a version. */
const versionsFolder = '/usr/lib/postgresql';
const [postgresVersion] = existsSync(versionsFolder)
  ? readdirSync(versionsFolder).toSorted((one, other) => Number(other) - Number(one))
  : [];

/** True if Debian's PostgreSQL is installed; says so if it is not. */
export const hasPostgres = postgresVersion !== undefined;
if (!hasPostgres)
  console.warn('skipped: tests with PostgreSQL, since it is not installed (apt-get install postgresql)');

/** Path of a program of PostgreSQL, such as `pg_dump`. */
export function postgresProgram(name: string): string {
  return path.join(versionsFolder, postgresVersion ?? '', 'bin', name);
}

/** PostgreSQL refuses to run as root. */
function unprivileged(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const idOf = (flag: string): number => Number(spawnSync('id', [flag, 'nobody']).stdout);
  return { uid: idOf('-u'), gid: idOf('-g') };
}

/** Makes the files of an empty server once, for all tests; they are copied. */
async function postgresTemplate(): Promise<string> {
  const template = path.join(tmpdir(), `dramatis-postgres-${postgresVersion}-${process.getuid?.()}`);
  if (existsSync(template)) return template;
  const folder = await mkdtemp(`${template}-`);
  const user = unprivileged();
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid ?? 0);
  const options = ['-D', folder, '-A', 'trust', '-U', 'dramatis', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync'];
  const { status, stderr } = spawnSync(postgresProgram('initdb'), options, { ...user, cwd: folder });
  if (status !== 0) throw new Error(`initdb failed: ${String(stderr)}`);
  // Another process may have been faster.
  await rename(folder, template).catch(() => rm(folder, { recursive: true }));
  return template;
}

/** A real PostgreSQL of a test or a bench. */
export interface TestPostgres {
  /** URL of a new, empty database. */
  createDatabase(name: string): Promise<string>;
  /** Ends the server without warning (SIGKILL), and starts it again on the same files. */
  crash(): Promise<void>;
  /** Makes the server and its connections sleep (SIGSTOP), or wakes them (SIGCONT). */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void;
  /** Ends the server (`crash` without the start). */
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** A real PostgreSQL on a loopback port. What is committed survives its end; with `fsync`, also that of the machine. */
export async function startPostgres({ fsync = false } = {}): Promise<TestPostgres> {
  const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-postgres-run-'));
  const data = path.join(folder, 'data');
  const user = unprivileged();
  spawnSync('cp', ['-a', await postgresTemplate(), data]);
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid ?? 0);
  const port = await freePort();
  const settings = [
    `fsync=${fsync ? 'on' : 'off'}`,
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'shared_buffers=16MB',
  ];
  const options = ['-D', data, '-p', `${port}`, ...settings.flatMap((setting) => ['-c', setting])];
  let child: ChildProcess;
  let exited: Promise<unknown>;
  const begin = async (): Promise<boolean> => {
    child = spawn(postgresProgram('postgres'), options, { ...user, cwd: data, stdio: ['ignore', 'ignore', 'pipe'] });
    exited = once(child, 'exit');
    const stderr = child.stderr as NonNullable<typeof child.stderr>;
    for await (const line of createInterface({ input: stderr }))
      if (line.includes('ready to accept connections')) {
        stderr.resume();
        return true;
      }
    return false;
  };
  const start = async (): Promise<void> => {
    // The connections of a server that was killed end a moment after it.
    for (let tries = 0; !(await begin()); tries += 1) if (tries > 200) throw new Error('PostgreSQL did not start');
  };
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
  };
  await start();
  return {
    async createDatabase(name) {
      const client = new Client(`postgres://dramatis@127.0.0.1:${port}/postgres`);
      await client.connect();
      await client.query(`CREATE DATABASE ${name}`);
      await client.end();
      return `postgres://dramatis@127.0.0.1:${port}/${name}`;
    },
    start,
    kill,
    async crash() {
      await kill();
      await start();
    },
    signal(name) {
      const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim().split(' ');
      // Process 0 would be this one and its relatives.
      for (const pid of children.map(Number).filter((one) => one > 0)) process.kill(pid, name);
      child.kill(name);
    },
    async stop() {
      child.kill('SIGQUIT');
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** One address in front of several nodes: connections go to the nodes that the test chooses, in turn. */
export async function startBalancer() {
  let targets: readonly { readonly port: number }[] = [];
  let connections = 0;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    connections += 1;
    const node = connect(targets[connections % targets.length]?.port ?? 0, '127.0.0.1');
    for (const [from, to] of [
      [client, node],
      [node, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => to.destroy());
      from.once('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    sendTo: (...nodes: readonly { readonly port: number }[]) => void (targets = nodes),
    /** Cuts the connections. */
    cut: () => sockets.forEach((socket) => void socket.destroy()),
    close: () => {
      server.close();
      sockets.forEach((socket) => void socket.destroy());
    },
  };
}

/** Where a node listens, and the program that it runs; a free port and this version's unless given. */
interface NodePlace {
  readonly port?: number | undefined;
  readonly program?: string | undefined;
}

/** Starts a node; on another port if its own has been taken meanwhile. */
async function startNode(environment: Readonly<Record<string, string>>, place: NodePlace, tries = 3) {
  const port = place.port ?? (await freePort());
  const own = {
    DRAMATIS_NODE_URL: `http://127.0.0.1:${port}`,
    DRAMATIS_CLUSTER_KEY: 'the key that all nodes share',
    DRAMATIS_PLAYOUT_AHEAD_MS: '5000',
    ...environment,
  };
  const server = loadServer(port, own, place.program);
  try {
    return { server, port, url: await server.listen() };
  } catch (fault) {
    await server.kill();
    if (tries <= 1) throw fault;
    return startNode(environment, place, tries - 1);
  }
}

/** A Redis, nodes on fake engines in processes of their own, and a balancer in front. Closing it ends them all. */
export async function startCluster(environment: Readonly<Record<string, string>> = {}) {
  const redisPort = await freePort();
  let redis = await startRedis(redisPort);
  const balancer = await startBalancer();
  const nodes = new Set<{ kill(): Promise<void> }>();
  const client = new Redis(redis.url, { lazyConnect: true });
  client.on('error', () => undefined);
  return {
    balancer,
    /** For looking at what the nodes have written. */
    client,
    get redis() {
      return redis;
    },
    /** Ends Redis; another one, which is empty, takes its place. */
    async loseRedis() {
      await redis.kill();
      redis = await startRedis(redisPort);
    },
    async addNode(own: Readonly<Record<string, string>> = {}, place: NodePlace = {}) {
      const started = await startNode({ DRAMATIS_REDIS_URL: redis.url, ...environment, ...own }, place);
      const { server, port, url } = started;
      nodes.add(server);
      return {
        ...server,
        port,
        url,
        /** The value of a metric; 0 if it is not there. */
        async metric(name: string): Promise<number> {
          const text = await (await fetch(`${url}/metrics`)).text();
          const line = text.split('\n').find((one) => one.startsWith(`${name} `));
          return Number(line?.slice(name.length) ?? 0);
        },
      };
    },
    async [Symbol.asyncDispose]() {
      client.disconnect();
      balancer.close();
      await Promise.all([...nodes].map((node) => node.kill()));
      await redis.kill();
    },
  };
}

/** Looks again until a condition holds. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20));
}
