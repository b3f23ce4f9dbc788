import { createHash, randomUUID } from 'node:crypto';
import type { Copyable, Perform } from '../store/copied.ts';
import { operations, type ArgsOf, type AsyncStore, type ResultOf } from '../store/operations.ts';
import { MemoryError, type UserKey } from '../store/record.ts';
import { ofMemoryKey } from '../store/rows.ts';
import { all, get, run, type Steps } from '../store/steps.ts';
import type { DataKeys } from './data-keys.ts';
import { Link, type LinkParts } from './link.ts';
import { sealAll } from './seal-all.ts';
import { lockMigrations, migrate } from './schema.ts';

/** Longest wait of a session's event for its turn to be stored; then it continues, and the turn is stored later. */
const recordMs = 1_000;
/** Longest wait of a reply for what it recalls. */
const recallMs = 500;
/** Longest wait of a request, of one batch of an erasure, and of a summary. */
const requestMs = 10_000;
const migrateMs = 60_000;
const vacuumMs = 600_000;
const eraseCount = 500;
/** A node that has not written its summary by then is dead: more than the LLM's time for one (`../summaries.ts`). */
const claimSeconds = 90;

/** For a copy of all memories, hours of talk of many users. */
const copyMs = 3_600_000;

const tables = ['turns', 'facts', 'summaries', 'states'] as const;
/** There are no other writers, and all reads see one snapshot. */
const lockTables = `LOCK TABLE ${tables.join(', ')}, points IN EXCLUSIVE MODE`;

interface PostgresParts extends Omit<LinkParts, 'open' | 'sealer'> {
  /** The Redis with the keys that seal the memories; absent if they are not sealed. */
  readonly keysUrl?: string | undefined;
  /** Factor of the waits of sessions, for tests on slow machines. */
  readonly patience?: number | undefined;
}

/** Memories in PostgreSQL, shared by any number of servers. */
export interface PostgresStore extends AsyncStore, Copyable {
  /** Seals what was stored without a key; `onProgress` gets the number of rows so far, and of all. Returns that number. */
  sealAll(onProgress: (done: number, of: number) => void): Promise<number>;
  readonly isThere: boolean;
  /** Version of the tables. */
  readonly version: number;
}

/**
 * Opens the memories in the database, and brings its tables up to date. If it cannot be reached, that is tried again in
 * the background. Throws `MemoryError` if it is too old, or written by a newer Dramatis.
 */
export async function openPostgresStore(parts: PostgresParts): Promise<PostgresStore> {
  const { keysUrl, patience = 1 } = parts;
  const node = randomUUID();
  let version = 0;
  const keys = keysUrl === undefined ? undefined : new (await import('./data-keys.ts')).DataKeys(keysUrl);
  const open = async (link: Link): Promise<void> => {
    version = await prepared(link, keys);
  };
  const link = new Link({ ...parts, open, sealer: keys });
  const close = async (): Promise<void> => {
    await link.close();
    keys?.close();
  };
  try {
    await link.start();
  } catch (fault) {
    await close();
    throw fault;
  }
  const { reading, writing } = waysOf(link);
  return {
    get isThere() {
      return link.isThere;
    },
    get version() {
      return version;
    },
    async within(act) {
      const withIds = async (perform: Perform) => {
        const result = await act(perform);
        // New ids come after those that were copied.
        for (const table of tables) await perform(all(resetIds(table)));
        return result;
      };
      return link.within(lockTables, withIds, copyMs);
    },
    record: writing('record', recordMs * patience),
    keepEmbedding: writing('keepEmbedding'),
    correct: writing('correct'),
    keepState: writing('keepState', recordMs * patience),
    load: writing('load'),
    states: reading('states', recallMs * patience),
    saved: (person, only) => link.transaction(lockOf([person]), operations.saved(person, only), requestMs),
    remove: writing('remove'),
    recall: reading('recall', recallMs * patience),
    standing: reading('standing', recallMs * patience),
    embeddings: reading('embeddings'),
    summary: reading('summary', recallMs * patience),
    get: reading('get'),
    list: reading('list'),
    page: reading('page'),
    people: reading('people'),
    move: (from, to) => link.transaction(lockOf([from, to]), moved(from, to), requestMs),
    outgrown: (bond) => link.transaction('', claimed(bond, node), requestMs),
    summarise: (bond, made) => link.transaction(lockOf([bond]), summarised(bond, made), requestMs),
    erase: (person, character) => erase(link, keys, person, character),
    sealAll: (onProgress) => sealAll(link, keys !== undefined, lockTables, onProgress),
    close,
  };
}

/** Brings the tables up to date, and tests that the key store belongs to them. Returns their version. */
function prepared(link: Link, keys: DataKeys | undefined): Promise<number> {
  const prepare = async (perform: Perform): Promise<number> => {
    const { to } = await perform(migrate());
    if (keys !== undefined) await keys.check(perform);
    else if ((await perform(get('SELECT 1 FROM key_store'))) !== undefined)
      throw new MemoryError(
        'memory_unavailable',
        'The memories are sealed. Set DRAMATIS_MEMORY_KEYS_URL to the Redis with their keys.',
      );
    return to;
  };
  return link.within(lockMigrations, prepare, migrateMs, true);
}

/** Operations that run as they are, and those that lock their user. */
function waysOf(link: Link) {
  return {
    reading:
      <Name extends Exclude<keyof AsyncStore, 'close' | 'erase'>>(name: Name, withinMs = requestMs) =>
      (...args: ArgsOf<Name>): Promise<ResultOf<Name>> =>
        link.read(stepsOf(name, args), withinMs),
    writing:
      <Name extends 'record' | 'correct' | 'remove' | 'keepEmbedding' | 'keepState' | 'load'>(
        name: Name,
        withinMs = requestMs,
      ) =>
      (...args: ArgsOf<Name>): Promise<ResultOf<Name>> => {
        const [person] = args;
        const begin = typeof person === 'string' ? '' : lockOf([person]);
        return link.transaction(begin, stepsOf(name, args), withinMs);
      },
  };
}

async function erase(link: Link, keys: DataKeys | undefined, person: UserKey, character?: string): Promise<number> {
  // All that the keys sealed is unreadable from here on, in backups, too.
  if (keys !== undefined)
    await link.within(lockOf([person]), (perform) => keys.forget(perform, person, character), requestMs);
  let [count, erased] = [0, 0];
  do {
    erased = await link.transaction(lockOf([person]), operations.erase(person, character, eraseCount), requestMs);
    count += erased;
  } while (erased > 0);
  await link.read(run('DELETE FROM claims WHERE owner = ? AND "user" = ?', person.owner, person.user), requestMs);
  // Outside a transaction. Rows also live on in the log, in replicas and in backups, until these expire.
  await link.use(vacuumMs, (client) => client.query('VACUUM turns, facts, summaries, states, points, claims'));
  return count;
}

/** Moves the keys with the memories: a user may then have several, and the newest seals what comes. */
function* moved(...[from, to]: ArgsOf<'move'>): Steps<number> {
  const count = yield* operations.move(from, to);
  yield* run(
    `UPDATE data_keys SET owner = ?, "user" = coalesce(?, "user") WHERE owner = ? AND (? = '' OR "user" = ?)`,
    to.owner,
    to.user ?? null,
    from.owner,
    from.user ?? '',
    from.user ?? '',
  );
  return count;
}

function resetIds(table: string): string {
  const sequence = `${table}_id_seq`;
  return `SELECT setval('${sequence}', greatest(max(id), (SELECT last_value FROM ${sequence}))) FROM ${table} HAVING count(*) > 0`;
}

function stepsOf<Name extends keyof typeof operations>(name: Name, args: ArgsOf<Name>): Steps<ResultOf<Name>> {
  const operation = operations[name] as unknown as (...given: ArgsOf<Name>) => Steps<ResultOf<Name>>;
  return operation(...args);
}

/**
 * Locks these people until the transaction ends: one write at a time for a person, so that ids grow in the order of the
 * commits, and what two nodes write at once is not mixed. A key as a whole excludes writes of all of its users.
 */
function lockOf(people: readonly { readonly owner: string; readonly user?: string | undefined }[]): string {
  const owners = people.map(({ owner, user }) => [
    lockNumber('owner', owner),
    user === undefined ? 'pg_advisory_xact_lock' : 'pg_advisory_xact_lock_shared',
  ]);
  const users = people.flatMap(({ owner, user }) =>
    user === undefined ? [] : [[lockNumber('user', owner, user), 'pg_advisory_xact_lock']],
  );
  // In the same order everywhere, or two transactions could wait for each other.
  const inOrder = [owners, users].flatMap((locks) =>
    locks.toSorted(([one = ''], [other = '']) => (one < other ? -1 : 1)),
  );
  return `SELECT ${[...new Set(inOrder.map(([number, lock]) => `${lock}(${number})`))].join(', ')}`;
}

function lockNumber(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest().readBigInt64BE().toString();
}

/** Returns what is to be summarized, unless another node does it. */
function* claimed(bond: ArgsOf<'outgrown'>[0], node: string): Steps<ResultOf<'outgrown'>> {
  const outgrown = yield* operations.outgrown(bond);
  if (outgrown === undefined) return undefined;
  const isOurs = yield* get(
    `INSERT INTO claims VALUES (?, ?, ?, ?, now() + interval '${claimSeconds} seconds')
     ON CONFLICT (owner, "user", character) DO UPDATE SET node = excluded.node, until = excluded.until
     WHERE claims.node = excluded.node OR claims.until < now() RETURNING 1`,
    bond.owner,
    bond.user,
    bond.character,
    node,
  );
  return isOurs && outgrown;
}

function* summarised(...[bond, made]: ArgsOf<'summarise'>): Steps<boolean> {
  const isDone = yield* operations.summarise(bond, made);
  yield* run(`DELETE FROM claims WHERE ${ofMemoryKey}`, bond.owner, bond.user, bond.character);
  return isDone;
}
