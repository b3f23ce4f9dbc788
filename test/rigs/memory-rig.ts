import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client } from 'pg';
import { afterEachFile, afterEachTest } from '../fakes/cleanups.ts';
import { openPostgresStore, type PostgresStore } from '../../server/memory/postgres/postgres-store.ts';
import type { Copyable } from '../../server/memory/store/copied.ts';
import { operations, type ArgsOf, type AsyncStore, type ResultOf } from '../../server/memory/store/operations.ts';
import { memoryFile, MemoryStore } from '../../server/memory/store/store.ts';
import { hasPostgres, hasRedis, startPostgres, startRedis, type TestPostgres } from './cluster-rig.ts';
import { freePort } from './kill-rig.ts';
import type { serve } from './serve-rig.ts';

const folders: string[] = [];
const stores: MemoryStore[] = [];
afterEachTest(() => {
  for (const store of stores.splice(0)) store.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** A data folder for one test. */
export function dataFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'dramatis-memory-'));
  folders.push(folder);
  return folder;
}

/** A store of memories for one test, over its own folder or a given file. */
export function newStore(file = memoryFile(dataFolder())): MemoryStore {
  const store = new MemoryStore(file);
  stores.push(store);
  return store;
}

/** A store with what only its tests need. */
export type TestStore = AsyncStore &
  Copyable & {
    unsummarised(...args: ArgsOf<'unsummarised'>): Promise<ResultOf<'unsummarised'>>;
  };

/** A store in a file, without its thread. */
export function besides(store: MemoryStore): TestStore {
  return new Proxy(store, {
    get(_target, name: keyof MemoryStore) {
      const method = store[name] as ((...args: unknown[]) => unknown) | undefined;
      // A promise would ask for `then`.
      if (method === undefined) return undefined;
      // Closed by its owner.
      if (name === 'close') return async () => undefined;
      return async (...args: unknown[]) => Reflect.apply(method, store, args);
    },
  }) as unknown as TestStore;
}

let server: Promise<TestPostgres> | undefined;
let databases = 0;
const opened: PostgresStore[] = [];
afterEachTest(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
});
afterEachFile(async () => {
  const one = await server;
  server = undefined;
  shared.clear();
  await one?.stop();
});

/** The PostgreSQL of a test file, started for the first test that needs it. */
export function postgres(): Promise<TestPostgres> {
  return (server ??= startPostgres());
}

/** The URL of an empty database for one test. */
export async function newDatabase(): Promise<string> {
  return (await postgres()).createDatabase(`test${(databases += 1)}`);
}

let keyStore: ReturnType<typeof startRedis> | undefined;
afterEachFile(async () => {
  const one = await keyStore;
  keyStore = undefined;
  await one?.kill();
});

/** The Redis for the keys of a test file, started for the first test that needs it. It keeps what it has. */
export async function newKeyStore(): Promise<string> {
  keyStore ??= freePort().then((port) => startRedis(port, ['--appendonly', 'yes']));
  return (await keyStore).url;
}

const shared = new Map<StoreKind, Promise<string>>();

/** The URL of a database of the test file, emptied: faster than a new one. */
async function emptiedDatabase(kind: StoreKind): Promise<string> {
  const made = shared.get(kind) ?? newDatabase();
  shared.set(kind, made);
  const url = await made;
  const client = new Client(url);
  await client.connect();
  const { rows } = await client.query("SELECT to_regclass('turns') IS NOT NULL AS is_used");
  if (rows[0]?.is_used === true)
    await client.query('TRUNCATE turns, facts, summaries, states, points, claims RESTART IDENTITY');
  await client.end();
  return url;
}

/** Memories in PostgreSQL for one test. */
export async function openPostgres(
  url: string,
  {
    keysUrl,
    onChange = () => undefined,
  }: { readonly keysUrl?: string; readonly onChange?: (isThere: boolean) => void } = {},
): Promise<PostgresStore & TestStore> {
  const store = await openPostgresStore({ url, keysUrl, onChange, patience: 20 });
  opened.push(store);
  const unsummarised = (...args: ArgsOf<'unsummarised'>): Promise<ResultOf<'unsummarised'>> =>
    store.within((perform) => perform(operations.unsummarised(...args)));
  return Object.assign(Object.create(store) as PostgresStore, { unsummarised });
}

/** The databases that one suite tests: PostgreSQL is skipped if it is not installed. */
export const storeKinds: readonly StoreKind[] = [
  'a file',
  ...(hasPostgres ? (['PostgreSQL'] as const) : []),
  ...(hasPostgres && hasRedis ? (['PostgreSQL with keys'] as const) : []),
];

export type StoreKind = 'a file' | 'PostgreSQL' | 'PostgreSQL with keys';

/** An empty store of this kind for one test. */
export async function newStoreIn(kind: StoreKind): Promise<TestStore> {
  const [store] = await twoStoresIn(kind);
  return store;
}

/** Two stores on the same memories, as two servers have them. */
export async function twoStoresIn(kind: StoreKind): Promise<readonly [TestStore, TestStore]> {
  if (kind !== 'a file') {
    const url = await emptiedDatabase(kind);
    const options = kind === 'PostgreSQL' ? {} : { keysUrl: await newKeyStore() };
    return [await openPostgres(url, options), await openPostgres(url, options)];
  }
  const file = memoryFile(dataFolder());
  return [besides(newStore(file)), besides(newStore(file))];
}

export const bob = { owner: '', user: 'bob' };
/** Bob and Alice. */
export const bond = { ...bob, character: 'alice' };

/** The current contents of the memory file, read by another store. */
export function keptIn(dataDir: string, user = 'bob', owner = '') {
  const store = new MemoryStore(memoryFile(dataDir));
  const kept = store.list({ owner, user });
  store.close();
  return kept;
}

type Server = Awaited<ReturnType<typeof serve>>;
export type Call = ReturnType<Server['call']>;

/** Opens a session of Bob with Alice, or with this query. */
export async function begin(server: Server, query = '?model=alice&user=bob'): Promise<Call> {
  const call = server.call(query);
  await call.until('session.created');
  return call;
}

/** Sends a typed message and waits for the reply. */
export async function say(call: Call, text: string): Promise<void> {
  const content = [{ type: 'input_text', text }];
  call.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } });
  call.send({ type: 'response.create', response: { output_modalities: ['text'] } });
  const { response } = await call.until('response.done');
  if (response.status !== 'completed') throw new Error(`the reply is ${response.status}`);
}
