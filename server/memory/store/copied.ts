import { createHash } from 'node:crypto';
import { MemoryError } from './record.ts';
import { all, get, placeholders, run, type Steps, type Value } from './steps.ts';

const whose = ['owner', 'user', 'character'] as const;

/** All that is kept, in an order in which nothing refers to what comes later. */
const parts = [
  {
    name: 'turns',
    table: 'turns',
    key: 'id',
    columns: ['id', ...whose, 'session', 'item', 'asked', 'answered', 'at', 'summarised', 'corrected', 'extracted'],
  },
  { name: 'facts', table: 'facts', key: 'id', columns: ['id', ...whose, 'turn', 'topic', 'text', 'at', 'corrected'] },
  { name: 'summaries', table: 'summaries', key: 'id', columns: ['id', ...whose, 'text', 'at', 'corrected'] },
  { name: 'states', table: 'states', key: 'id', columns: ['id', ...whose, 'name', 'value', 'at'] },
  { name: 'embeddings of turns', table: 'points', key: 'turn', columns: ['turn', 'model', 'point'] },
  { name: 'embeddings of facts', table: 'points', key: 'fact', columns: ['fact', 'model', 'point'] },
] as const;
type Part = (typeof parts)[number];

/** Rows read and written at once. */
const pageSize = 250;

/** Runs steps inside an open transaction. */
export type Perform = <Result>(steps: Steps<Result>) => Promise<Result>;

/** A database whose memories can be copied as a whole. */
export interface Copyable {
  /** Runs `act` in one transaction without other writers; rolls back if it throws. */
  within<Result>(act: (perform: Perform) => Promise<Result>): Promise<Result>;
}

/** Contents of a database: the number of rows by kind, and one hash of all their values. */
export interface Contents {
  readonly counts: Readonly<Record<string, number>>;
  /** SHA-256, in hexadecimal. */
  readonly hash: string;
}

/**
 * Copies all memories into an empty database, ids included, and compares both before it commits. Throws `MemoryError`,
 * having changed nothing, if the target has memories or differs afterwards.
 */
export async function copyMemories(from: Copyable, to: Copyable): Promise<Contents> {
  return to.within(async (write) => {
    for (const { table } of parts)
      if ((await write(get(`SELECT 1 FROM ${table} LIMIT 1`))) !== undefined)
        throw new MemoryError(
          'invalid_value',
          'The target already has memories, so nothing was copied. Copy into an empty database, or erase what it has.',
        );
    const source = await from.within((read) => contentsOf(read, (part, rows) => write(insertIn(part, rows))));
    const copied = await contentsOf(write);
    if (copied.hash === source.hash) return copied;
    throw new MemoryError(
      'memory_unavailable',
      'The copy differs from its source, so it was undone. Check the encoding of the database: it must be UTF8.',
    );
  });
}

/** Reads everything, page by page, in the order of ids. */
async function contentsOf(
  read: Perform,
  onPage: (part: Part, rows: readonly (readonly Value[])[]) => Promise<void> = async () => undefined,
): Promise<Contents> {
  const hash = createHash('sha256');
  const counts: Record<string, number> = {};
  for (const part of parts) {
    let [last, count] = [-1, 0];
    for (;;) {
      const rows = await read(pageAfter(part, last));
      if (rows.length === 0) break;
      for (const row of rows) hash.update(`${part.name}${JSON.stringify(row.map(comparable))}\n`);
      await onPage(part, rows);
      count += rows.length;
      last = Number(rows.at(-1)?.[0]);
    }
    counts[part.name] = count;
  }
  return { counts, hash: hash.digest('hex') };
}

/** A value as every database returns it; PostgreSQL keeps no U+0000 (`../postgres/link.ts`). */
function comparable(value: Value): Value {
  if (typeof value === 'string') return value.replaceAll('\0', '\uFFFD');
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;
}

function* pageAfter({ table, key, columns }: Part, last: number): Steps<readonly (readonly Value[])[]> {
  const names = columns.map((name) => `"${name}"`).join(', ');
  const sql = `SELECT ${names} FROM ${table} WHERE ${key} > ? ORDER BY ${key} LIMIT ${pageSize}`;
  const rows = yield* all<Record<string, Value>>(sql, last);
  return rows.map((row) => columns.map((name) => row[name] ?? null));
}

function* insertIn({ table, columns }: Part, rows: readonly (readonly Value[])[]): Steps<void> {
  const names = columns.map((name) => `"${name}"`).join(', ');
  const tuples = rows.map((row) => `(${placeholders(row.length)})`).join(', ');
  yield* run(`INSERT INTO ${table} (${names}) VALUES ${tuples}`, ...rows.flat());
}
