import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import type { Perform } from '../store/copied.ts';
import { MemoryError, type MemoryKey, type UserKey } from '../store/record.ts';
import { all, Content, get, run, type Plain, type Value } from '../store/steps.ts';
import { Gone, type Query, type Row, type Sealer } from './link.ts';
import { contentColumns, keyIdOf, newDataKey, seal, unseal, type DataKey } from './sealed-content.ts';

/** Longest wait for the key store: it answers within a millisecond. */
const patienceMs = 1_000;
/** A key that was read is used again for this long, at most: one that another node erased is not known longer. */
const cachedMs = 60_000;
const mostCached = 4_096;
/** Version of the tables from which on nodes understand what is sealed. */
const sealedVersion = 3;

const keyName = (id: string): string => `dramatis:memory-key:${id}`;
const markerName = (database: string): string => `dramatis:memory-keys:${database}`;

/**
 * Data keys, in a Redis apart from the memories that they seal: erasing a key makes what it sealed unreadable in every
 * log, replica and backup of PostgreSQL. Which keys are whose is in PostgreSQL (`data_keys`).
 */
export class DataKeys implements Sealer {
  readonly #redis: Redis;
  readonly #cached = new Map<string, { readonly key: DataKey; readonly atMs: number }>();

  /** `url`: `redis://` or `rediss://`. Connects by itself, again and again. */
  constructor(url: string) {
    this.#redis = new Redis(url, {
      commandTimeout: patienceMs,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      retryStrategy: (times) => Math.min(times * 50, 500),
    });
    // Each command reports its own failure.
    this.#redis.on('error', () => undefined);
  }

  /**
   * Tests that this is the key store of the database, or makes it that if the database has none. Throws `MemoryError`: it
   * cannot be reached, may lose keys, or has lost those of this database.
   */
  async check(perform: Perform): Promise<void> {
    if (this.#redis.status !== 'ready') await this.#connected();
    await this.#refuseForgetful();
    const known = (await perform(get('SELECT id FROM key_store')))?.['id'];
    if (typeof known === 'string') {
      if ((await this.#ask((redis) => redis.exists(markerName(known)))) === 1) return;
      throw new MemoryError('memory_unavailable', lostMessage);
    }
    const id = randomBytes(16).toString('hex');
    await this.#ask((redis) => redis.set(markerName(id), new Date().toISOString()));
    await perform(run('INSERT INTO key_store VALUES (?)', id));
    await perform(run('UPDATE dramatis_schema SET works_with = greatest(works_with, ?)', sealedVersion));
  }

  async seal(query: Query, values: readonly Value[]): Promise<Plain[]> {
    const keys = new Map<string, DataKey>();
    const sealed: Plain[] = [];
    for (const value of values) {
      if (!(value instanceof Content)) {
        sealed.push(value);
        continue;
      }
      const { owner, user, character } = value.of;
      const name = JSON.stringify([owner, user, character]);
      const key = keys.get(name) ?? (await this.#writingKey(query, value.of));
      keys.set(name, key);
      sealed.push(seal(value.value, key));
    }
    return sealed;
  }

  async open(rows: readonly Row[]): Promise<readonly Row[]> {
    const idIn = (name: string, value: unknown) => (contentColumns.has(name) ? keyIdOf(value) : undefined);
    const ids = new Set<string>();
    for (const row of rows) {
      for (const [name, value] of Object.entries(row)) {
        const id = idIn(name, value);
        if (id !== undefined) ids.add(id);
      }
    }
    if (ids.size === 0) return rows;
    const keys = await this.#keysOf([...ids]);
    return rows.flatMap((row) => {
      const opened: Record<string, unknown> = {};
      for (const [name, value] of Object.entries(row)) {
        const id = idIn(name, value);
        const key = id === undefined ? undefined : keys.get(id);
        if (id !== undefined && key === undefined) return [];
        opened[name] = key === undefined ? value : unseal(value as string | Uint8Array, key);
      }
      return [opened];
    });
  }

  /** Erases the keys of a user, of one character or all. The transaction holds the lock of the user. */
  async forget(perform: Perform, { owner, user }: UserKey, character = ''): Promise<void> {
    const where = `owner = ? AND "user" = ? AND (? = '' OR character = ?)`;
    const whose = [owner, user, character, character];
    const found = await perform(all<{ id: string }>(`SELECT id FROM data_keys WHERE ${where}`, ...whose));
    if (found.length === 0) return;
    for (const { id } of found) this.#cached.delete(id);
    await this.#ask((redis) => redis.del(...found.map(({ id }) => keyName(id))));
    // Killed before this, the rows name keys that are gone: the next write makes a new one.
    await perform(run(`DELETE FROM data_keys WHERE ${where}`, ...whose));
  }

  faultOf(reason: string): MemoryError {
    const message = `The key store of the memories cannot be used: ${reason}. Check that the Redis of DRAMATIS_MEMORY_KEYS_URL runs.`;
    return new MemoryError('memory_unavailable', message, new Gone(reason));
  }

  close(): void {
    this.#redis.disconnect();
  }

  /** Returns the newest key of these memories, or a new one. Always asks: another node may have erased it. */
  async #writingKey(query: Query, { owner, user, character }: MemoryKey): Promise<DataKey> {
    const whose = [owner, user, character];
    const newest =
      'SELECT id FROM data_keys WHERE owner = $1 AND "user" = $2 AND character = $3 ORDER BY place DESC LIMIT 1';
    const [row] = await query(newest, whose);
    const id = typeof row?.['id'] === 'string' ? row['id'] : undefined;
    const secret = id === undefined ? null : await this.#ask((redis) => redis.getBuffer(keyName(id)));
    if (id !== undefined && secret !== null) return { id, secret };
    const key = newDataKey();
    // First the key, then what refers to it: a key that nothing refers to does no harm.
    await this.#ask((redis) => redis.set(keyName(key.id), key.secret));
    const insert = 'INSERT INTO data_keys (owner, "user", character, id) VALUES ($1, $2, $3, $4)';
    await query(insert, [...whose, key.id]);
    return key;
  }

  async #keysOf(ids: readonly string[]): Promise<ReadonlyMap<string, DataKey>> {
    const now = performance.now();
    const keys = new Map<string, DataKey>();
    for (const id of ids) {
      const cached = this.#cached.get(id);
      if (cached !== undefined && now - cached.atMs < cachedMs) keys.set(id, cached.key);
    }
    const unknown = ids.filter((id) => !keys.has(id));
    if (unknown.length === 0) return keys;
    const secrets = await this.#ask((redis) => redis.mgetBuffer(...unknown.map(keyName)));
    for (const [place, id] of unknown.entries()) {
      const secret = secrets[place];
      if (secret) keys.set(id, this.#cache({ id, secret }, now));
    }
    return keys;
  }

  #cache(key: DataKey, atMs: number): DataKey {
    this.#cached.delete(key.id);
    this.#cached.set(key.id, { key, atMs });
    const [oldest] = this.#cached.keys();
    if (this.#cached.size > mostCached && oldest !== undefined) this.#cached.delete(oldest);
    return key;
  }

  /** Throws if this Redis drops keys when it is full or restarted. One that does not tell its settings is trusted. */
  async #refuseForgetful(): Promise<void> {
    const settingOf = async (name: string): Promise<string | undefined> => {
      const told = await this.#ask((redis) => redis.config('GET', name).catch(unlessLost));
      return Array.isArray(told) ? String(told[1]) : undefined;
    };
    const whenFull = await settingOf('maxmemory-policy');
    if (whenFull !== 'noeviction' && whenFull !== undefined)
      throw new MemoryError(
        'memory_unavailable',
        forgetfulMessage('maxmemory-policy noeviction', 'drops keys when it is full'),
      );
    if ((await settingOf('appendonly')) === 'no')
      throw new MemoryError('memory_unavailable', forgetfulMessage('appendonly yes', 'loses keys when it restarts'));
  }

  async #connected(): Promise<void> {
    let giveUp: NodeJS.Timeout | undefined;
    await Promise.race([
      new Promise<void>((resolve) => void this.#redis.once('ready', () => resolve())),
      new Promise<void>((resolve) => (giveUp = setTimeout(resolve, patienceMs).unref())),
    ]);
    clearTimeout(giveUp);
  }

  async #ask<Answer>(act: (redis: Redis) => Promise<Answer>): Promise<Answer> {
    try {
      return await act(this.#redis);
    } catch (fault) {
      throw this.faultOf(fault instanceof Error ? fault.message : String(fault));
    }
  }
}

const lostMessage =
  'The Redis of DRAMATIS_MEMORY_KEYS_URL does not have the keys of these memories. Set the URL of the one that has, or restore its backup. ' +
  'Without the keys the memories cannot be read: then empty the database to start again (OPERATIONS.md).';

function forgetfulMessage(setting: string, because: string): string {
  return `The Redis of DRAMATIS_MEMORY_KEYS_URL ${because}, and memories cannot be read without their keys. Set ${setting} there.`;
}

/** Managed services forbid CONFIG; a connection that is lost is another matter. */
function unlessLost(fault: unknown): undefined {
  if (fault instanceof Error && /^(?:NOPERM|ERR)/u.test(fault.message)) return undefined;
  throw fault;
}
