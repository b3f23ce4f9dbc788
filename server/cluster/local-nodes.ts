import cluster, { type Worker } from 'node:cluster';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { startLocalRedis, type LocalRedis } from './local-redis.ts';
import { ConfigError, type Config } from '../config/config.ts';
import { printLine, tellIfSlow } from '../terminal/text.ts';

/** A node or a Redis that ends by itself is started again after this time. */
const restartMs = 1_000;
/** More ends of nodes than this within a minute are no accident: all nodes stop. */
const mostEndsPerMinute = 5;

/** Message of a node to the process that started it, once it serves. */
export interface NodeReady {
  /** URL of only this node; the one of all nodes is in `lines`. */
  readonly nodeUrl: string;
  readonly pid: number;
  /** What `dramatis serve` prints of it, the same for all nodes. */
  readonly lines: readonly string[];
}

/**
 * Serves on one port with several processes and their own Redis, so that one machine uses all of its cores. A node
 * that ends is started again; its sessions are resumed at the others. Runs until SIGINT or SIGTERM, which let replies
 * finish; a second signal kills all nodes. Returns the exit status: 1 if nodes end again and again.
 */
export async function serveNodes(count: number, config: Config): Promise<number> {
  refuse(config);
  const nodes = new Nodes(await startLocalRedis());
  const onSignal = (): void => nodes.stop();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal);
  try {
    // The first one finds faults of the configuration, and fills the caches for the others.
    const first = await tellIfSlow('Loading the engines; the first start takes longest …', nodes.start());
    const others = first === undefined ? [] : await Promise.all(Array.from({ length: count - 1 }, () => nodes.start()));
    if (first !== undefined && !nodes.isStopping) {
      for (const line of [...first.lines, `  ${count} nodes, each with its own /metrics:`]) printLine(line);
      for (const node of [first, ...others])
        if (node !== undefined) printLine(`    ${node.nodeUrl} (process ${node.pid})`);
      printLine();
    }
    return await nodes.ended;
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, onSignal);
    nodes.redis.stop();
  }
}

/** The processes of the nodes; starts again what ends by itself. */
class Nodes {
  redis: LocalRedis;
  isStopping = false;
  readonly #clusterKey = randomBytes(24).toString('base64url');
  readonly #running = new Set<Worker>();
  readonly #endsAtMs: number[] = [];
  readonly #ended = Promise.withResolvers<number>();
  #hasServed = false;
  #status = 0;

  constructor(redis: LocalRedis) {
    this.redis = redis;
    this.#keepRedis().catch((fault: unknown) => printLine(`Redis did not start again: ${String(fault)}`));
  }

  /** Resolves to the exit status when all have ended. */
  get ended(): Promise<number> {
    return this.#ended.promise;
  }

  /** Starts a node; resolves when it serves, with undefined if it ends before. */
  async start(): Promise<NodeReady | undefined> {
    const { redis } = this;
    const own = { DRAMATIS_REDIS_URL: redis.url, DRAMATIS_CLUSTER_KEY: this.#clusterKey, DRAMATIS_STORE: 'true' };
    const node = cluster.fork(own);
    this.#running.add(node);
    const ready = new Promise<NodeReady | undefined>((resolve) => {
      node.once('message', (message: NodeReady) => resolve(message));
      node.once('exit', () => resolve(undefined));
    });
    node.once('online', () => void node.send({ redisPid: redis.pid }));
    node.once('exit', () => this.#onEnd(node));
    const found = await ready;
    this.#hasServed ||= found !== undefined;
    return found;
  }

  /** Lets replies finish; called again, kills all nodes. */
  stop(): void {
    if (!this.isStopping) printLine('Stopping after the current replies. Press Ctrl-C again to stop at once.');
    for (const node of this.#running) node.process.kill(this.isStopping ? 'SIGKILL' : 'SIGTERM');
    this.isStopping = true;
    if (this.#running.size === 0) this.#ended.resolve(this.#status);
  }

  #onEnd(node: Worker): void {
    this.#running.delete(node);
    if (this.isStopping) {
      if (this.#running.size === 0) this.#ended.resolve(this.#status);
      return;
    }
    const nowMs = performance.now();
    this.#endsAtMs.push(nowMs);
    const isTooMany = this.#endsAtMs.filter((atMs) => nowMs - atMs < 60_000).length > mostEndsPerMinute;
    if (isTooMany) printLine('Nodes ended repeatedly, so all nodes stop. Read their messages above.');
    if (isTooMany || !this.#hasServed) {
      this.#status = 1;
      this.stop();
      return;
    }
    printLine('A node has ended. Another one is started; its conversations continue on the other nodes.');
    setTimeout(() => {
      if (!this.isStopping) void this.start();
    }, restartMs);
  }

  async #keepRedis(): Promise<void> {
    for (;;) {
      await this.redis.ended;
      if (this.isStopping) return;
      printLine('Redis has ended. Conversations continue, and another Redis is started.');
      await new Promise((resolve) => setTimeout(resolve, restartMs));
      this.redis = await startLocalRedis(this.redis.url);
      for (const node of this.#running) node.send({ redisPid: this.redis.pid });
    }
  }
}

function refuse({ memory, postgresUrl, redisUrl }: Config): void {
  if (memory && postgresUrl === undefined)
    throw new ConfigError(
      'Memories are in a file of one process, and --nodes starts several. Set DRAMATIS_POSTGRES_URL to a database that ' +
        'they share, or DRAMATIS_MEMORY=false, or leave --nodes out.',
    );
  if (redisUrl !== undefined)
    throw new ConfigError(
      'DRAMATIS_REDIS_URL is set, and --nodes starts a Redis of its own for the nodes of one machine. Leave one of them ' +
        'out; to add nodes of other machines, start each with its own DRAMATIS_NODE_URL.',
    );
}

/** The node that this process is, one of those that `serveNodes` starts. */
export interface OwnNode {
  /** Also serves on the node's own URL, and reports that it is ready. */
  tell(app: FastifyInstance, lines: readonly string[]): void;
  /** Parts from its starter, so that the process can end. */
  leave(): void;
}

/** Listens on a port of this node alone, and sets `DRAMATIS_NODE_URL` to its URL. Stops Redis if its starter is killed. */
export async function openOwnNode(): Promise<OwnNode> {
  let redisPid: number | undefined;
  process.on('message', (message: { readonly redisPid: number }) => (redisPid = message.redisPid));
  // Ctrl-C reaches every process of a terminal: the starter passes it on as SIGTERM.
  process.on('SIGINT', () => undefined);
  process.on('exit', () => {
    if (process.connected || redisPid === undefined) return;
    try {
      process.kill(redisPid);
    } catch {
      // Another node was faster.
    }
  });
  const listener = createServer();
  listener.listen({ port: 0, host: '127.0.0.1', exclusive: true }).unref();
  await once(listener, 'listening');
  const nodeUrl = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  process.env['DRAMATIS_NODE_URL'] = nodeUrl;
  return {
    tell(app, lines) {
      // Behind TLS, the other nodes of this machine need none.
      const event = 'setSecureContext' in app.server ? 'secureConnection' : 'connection';
      listener.on('connection', (socket) => app.server.emit(event, socket));
      process.send?.({ nodeUrl, pid: process.pid, lines } satisfies NodeReady);
    },
    leave() {
      redisPid = undefined;
      listener.close();
      process.disconnect();
    },
  };
}
