import { createHash, randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { lineIn } from '../journal/journal-file.ts';
import type { LogCalls, SessionLog } from '../journal/journal.ts';
import type { JournalLine } from '../journal/lines.ts';
import { StoreUnavailable, type Cluster, type ClusterFigures, type SessionPlace } from './cluster.ts';
import { append, claim, release, remove, replace, type Script } from './scripts.ts';
import { SharedCounts } from './shared-counts.ts';
import { SharedLog, type LogCommands, type Verdict } from './shared-log.ts';

/** The others hold a node for dead if it has not renewed its key for this long. It renews it five times as often. */
const leaseMs = 5_000;
const renewMs = 1_000;
/** A journal without a write stays for the grace period and half as long again, but at least this long. */
const leastStayMs = 90_000;
/** The epoch of a session that has ended stays this long: a node may sleep for some minutes. */
const epochStayMs = 600_000;

export interface RedisStoreOptions {
  /** Redis counts as gone if it does not answer for this long: 250 ms unless given. */
  readonly patienceMs?: number | undefined;
  /** `redis://` or `rediss://`, with user, password and database if needed. */
  readonly redisUrl: string;
  /** URL under which the other nodes reach this one. */
  readonly nodeUrl: string;
  readonly graceMs: number;
  /** Facts in the node's key besides its URL. */
  readonly about: () => { readonly version: string; readonly sessions: number; readonly draining: boolean };
  /** Called once for each time that Redis stops to answer, and once when it answers again. */
  readonly onChange: (isThere: boolean, fault?: unknown) => void;
}

interface Claimed {
  readonly epoch: number;
  readonly position: number;
  readonly rows: readonly string[];
}

/** The cluster in Redis 6.2 or later, or Valkey. Keys of one session share a hash tag. */
export class RedisStore implements Cluster {
  readonly isShared = true;
  readonly #options: RedisStoreOptions;
  readonly nodeId = randomBytes(16).toString('hex');
  readonly #client: Redis;
  readonly #logs = new Map<string, SharedLog>();
  readonly #claimed = new Map<string, Claimed>();
  /** Claims on their way: two sockets of one client make one. */
  readonly #claims = new Map<string, Promise<boolean>>();
  readonly #stayMs: number;
  readonly #timer: NodeJS.Timeout;
  #isThere = true;
  /** The connection has been made since the sessions were asked about. */
  #isNew = false;
  #renewedMs = performance.now();
  /** Since then this process has not slept, or it has asked about its sessions. */
  #awakeMs = performance.now();
  #touchedMs = performance.now();
  #fenced = 0;
  #moved = 0;

  constructor(options: RedisStoreOptions) {
    this.#options = options;
    this.#stayMs = Math.max(leastStayMs, options.graceMs * 1.5);
    this.#client = new Redis(options.redisUrl, {
      commandTimeout: options.patienceMs ?? 250,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      retryStrategy: (times) => Math.min(times * 50, 500),
    });
    // Each command reports its own failure.
    this.#client.on('error', () => undefined);
    // A Redis that was away may have lost what it had.
    this.#client.on('ready', () => (this.#isNew = true));
    this.#timer = setInterval(() => void this.#renew().finally(() => this.#wake()), renewMs);
    this.#timer.unref();
  }

  /** Settles when the node's key exists, or after a second; the node serves without Redis, too. */
  async begin(): Promise<void> {
    const isReady = new Promise<void>((resolve) => void this.#client.once('ready', () => resolve()));
    await Promise.race([isReady, new Promise((resolve) => setTimeout(resolve, 1_000).unref())]);
    await this.#renew();
  }

  readonly figures: ClusterFigures = Object.defineProperties({} as ClusterFigures, {
    unkept: { get: () => [...this.#logs.values()].filter(({ isFailing }) => isFailing).length },
    fenced: { get: () => this.#fenced },
    moved: { get: () => this.#moved },
  });

  has(tokenHash: string): boolean {
    return this.#claimed.has(tokenHash);
  }

  read(tokenHash: string): JournalLine[] | undefined {
    const rows = this.#claimed.get(tokenHash)?.rows;
    if (rows === undefined) return undefined;
    try {
      return rows.map((row, index) => lineIn(row, `${linesKey(tokenHash)}:${index + 1}`));
    } catch (fault) {
      // Perhaps a newer version wrote it, which runs on another node.
      this.drop(tokenHash);
      throw fault;
    }
  }

  open(tokenHash: string, calls: LogCalls): SessionLog {
    const claimed = this.#claimed.get(tokenHash);
    this.#claimed.delete(tokenHash);
    const onOver = (): void => void (this.#logs.get(tokenHash) === log && this.#logs.delete(tokenHash));
    const onTaken = (): void => {
      this.#fenced += 1;
      calls.onTaken();
    };
    const lines = claimed?.rows.map((row) => JSON.parse(row) as JournalLine);
    const log: SharedLog = new SharedLog(
      this.#commands(tokenHash, claimed?.epoch ?? 1),
      { ...calls, onTaken, onOver, isAwake: () => this.#isAwake },
      claimed && lines && { position: claimed.position, lines },
    );
    this.#logs.set(tokenHash, log);
    return log;
  }

  async owns(tokenHash: string): Promise<boolean> {
    const log = this.#logs.get(tokenHash);
    return log === undefined || (await log.check());
  }

  async whereIs(tokenHash: string): Promise<SessionPlace> {
    if (this.#claimed.has(tokenHash)) return 'free';
    return this.#ask(async () => {
      const [node, position] = await this.#client.hmget(ownerKey(tokenHash), 'node', 'position');
      if (position === null || position === undefined) return 'ended';
      if (node === this.nodeId || node === '' || typeof node !== 'string') return 'free';
      const url = await this.urlOf(node);
      return url === undefined ? 'free' : { url };
    });
  }

  async urlOf(nodeId: string): Promise<string | undefined> {
    const lease = await this.#ask(() => this.#client.get(nodeKey(nodeId)));
    return lease === null ? undefined : (JSON.parse(lease) as { url: string }).url;
  }

  claim(tokenHash: string): Promise<boolean> {
    if (this.#claimed.has(tokenHash) || this.#logs.has(tokenHash)) return Promise.resolve(true);
    const onItsWay = this.#claims.get(tokenHash) ?? this.#claim(tokenHash);
    this.#claims.set(tokenHash, onItsWay);
    return onItsWay.finally(() => this.#claims.delete(tokenHash));
  }

  async #claim(tokenHash: string): Promise<boolean> {
    const found = await this.#ask(() => this.#run(claim, tokenHash, [this.nodeId, this.#stayMs]));
    if (!Array.isArray(found)) return false;
    const [epoch, position, rows, last] = found as [number, string, string[], string];
    if (last === '') this.#moved += 1;
    this.#claimed.set(tokenHash, { epoch, position: Number(position), rows });
    return true;
  }

  drop(tokenHash: string): void {
    const claimed = this.#claimed.get(tokenHash);
    if (claimed === undefined || !this.#claimed.delete(tokenHash)) return;
    void this.#commands(tokenHash, claimed.epoch)
      .release()
      .catch(() => undefined);
  }

  async putSecret(hash: string, facts: string, stayMs: number): Promise<void> {
    await this.#ask(() => this.#client.set(secretKey(hash), facts, 'PX', stayMs));
  }

  async secret(hash: string): Promise<{ readonly facts: string; readonly leftMs: number } | undefined> {
    const key = secretKey(hash);
    const [facts, leftMs] = await this.#ask(() => Promise.all([this.#client.get(key), this.#client.pttl(key)]));
    return facts === null || leftMs <= 0 ? undefined : { facts, leftMs };
  }

  readonly counts = new SharedCounts({
    run: (script, key, args) => this.#runOn([key], script, args),
    remove: (key, place) => this.#client.zrem(key, place),
  });

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.counts.close();
    for (const tokenHash of this.#claimed.keys()) this.drop(tokenHash);
    await Promise.all([...this.#logs.values()].map((log) => log.idle()));
    await this.#client.del(nodeKey(this.nodeId)).catch(() => undefined);
    this.#client.disconnect();
  }

  #commands(tokenHash: string, epoch: number): LogCommands {
    const run = (script: Script, stayMs: number, ...rest: readonly (string | number)[]): Promise<Verdict> =>
      this.#run(script, tokenHash, [epoch, this.nodeId, stayMs, ...rest]) as Promise<Verdict>;
    return {
      append: (from, to, rows) => run(append, this.#stayMs, from, to, ...rows),
      replace: (to, rows) => run(replace, this.#stayMs, to, ...rows),
      release: () => run(release, this.#stayMs),
      remove: () => run(remove, epochStayMs),
    };
  }

  #run(script: Script, tokenHash: string, args: readonly (string | number)[]): Promise<unknown> {
    return this.#runOn([ownerKey(tokenHash), linesKey(tokenHash)], script, args);
  }

  async #runOn(keys: readonly string[], script: Script, args: readonly (string | number)[]): Promise<unknown> {
    try {
      return await this.#client.evalsha(hashOf(script), keys.length, ...keys, ...args);
    } catch (fault) {
      if (!String(fault).includes('NOSCRIPT')) throw fault;
      return this.#client.eval(script.lua, keys.length, ...keys, ...args);
    }
  }

  async #ask<Answer>(question: () => Promise<Answer>): Promise<Answer> {
    try {
      return await question();
    } catch (cause) {
      throw new StoreUnavailable('Redis (DRAMATIS_REDIS_URL) does not answer.', { cause });
    }
  }

  get #isAwake(): boolean {
    return performance.now() - this.#awakeMs < leaseMs;
  }

  /** Lets go what waited because this process had slept. Without an answer from Redis, too: sessions go on. */
  #wake(): void {
    const hasSlept = !this.#isAwake;
    this.#awakeMs = performance.now();
    if (hasSlept) for (const log of this.#logs.values()) log.onWritten?.();
  }

  /**
   * Tells the others that this node lives. Asks about every session when Redis has been away, and when this process has
   * slept: another node may have taken them over, and Redis may have lost them.
   */
  async #renew(): Promise<void> {
    const nowMs = performance.now();
    const hasSlept = nowMs - this.#renewedMs > 2 * renewMs;
    this.#renewedMs = nowMs;
    const about = JSON.stringify({ url: this.#options.nodeUrl, ...this.#options.about() });
    try {
      await this.#client.set(nodeKey(this.nodeId), about, 'PX', leaseMs);
    } catch (fault) {
      if (this.#isThere) this.#options.onChange((this.#isThere = false), fault);
      return;
    }
    if (!this.#isThere) this.#options.onChange((this.#isThere = true));
    const isNew = this.#isNew;
    this.#isNew = false;
    const isDue = nowMs - this.#touchedMs > this.#stayMs / 3;
    if (isDue) this.#touchedMs = nowMs;
    const asked = [...this.#logs.values()].filter((log) => isNew || hasSlept || isDue || log.isFailing);
    await Promise.all(asked.map((log) => log.check()));
  }
}

/** Opens the cluster and announces this node to the others. The caller closes it. */
export async function openRedisStore(options: RedisStoreOptions): Promise<RedisStore> {
  const store = new RedisStore(options);
  await store.begin();
  return store;
}

const hashes = new Map<Script, string>();

function hashOf(script: Script): string {
  const hash = hashes.get(script) ?? createHash('sha1').update(script.lua).digest('hex');
  hashes.set(script, hash);
  return hash;
}

function ownerKey(tokenHash: string): string {
  return `dramatis:{${tokenHash}}:owner`;
}

function linesKey(tokenHash: string): string {
  return `dramatis:{${tokenHash}}:lines`;
}

function secretKey(hash: string): string {
  return `dramatis:secret:${hash}`;
}

function nodeKey(node: string): string {
  return `dramatis:node:${node}`;
}
