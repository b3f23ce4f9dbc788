import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { Redis } from 'ioredis';
import { freePort, loadServer } from './kill-rig.ts';

/** True if Debian's `redis-server` is installed. */
export const hasRedis = spawnSync('redis-server', ['--version']).status === 0;

/** A real Redis on a loopback port, without persistence. */
export async function startRedis(port: number) {
  const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-redis-'));
  const options = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder];
  const child = spawn('redis-server', options, { stdio: ['ignore', 'pipe', 'inherit'] });
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

/** One address in front of several nodes: each connection goes to the node that the test chooses. */
export async function startBalancer() {
  let target = 0;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const node = connect(target, '127.0.0.1');
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
    sendTo: (node: { readonly port: number }) => void (target = node.port),
    /** Cuts the connections. */
    cut: () => sockets.forEach((socket) => void socket.destroy()),
    close: () => {
      server.close();
      sockets.forEach((socket) => void socket.destroy());
    },
  };
}

/** Starts a node; on another port if its own has been taken meanwhile. */
async function startNode(environment: Readonly<Record<string, string>>, tries = 3) {
  const port = await freePort();
  const server = loadServer(port, {
    DRAMATIS_NODE_URL: `http://127.0.0.1:${port}`,
    DRAMATIS_CLUSTER_KEY: 'the key that all nodes share',
    DRAMATIS_PLAYOUT_AHEAD_MS: '5000',
    ...environment,
  });
  try {
    return { server, port, url: await server.listen() };
  } catch (fault) {
    await server.kill();
    if (tries <= 1) throw fault;
    return startNode(environment, tries - 1);
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
    async addNode(own: Readonly<Record<string, string>> = {}) {
      const started = await startNode({ DRAMATIS_REDIS_URL: redis.url, ...environment, ...own });
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
