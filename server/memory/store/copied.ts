import { createHash } from 'node:crypto';
import { MemoryError } from './record.ts';
import { all, Content, get, placeholders, run, type Plain, type Steps, type Value } from './steps.ts';

const whose = ['owner', 'user', 'character'] as const;

interface Part {
  readonly name: string;
  readonly table: string;
  readonly key: string;
  readonly columns: readonly string[];
  /** Those of the columns that hold content. */
  readonly content: readonly string[];
  /** The table whose row says of whom a row is; its own unless given. */
  readonly of?: string;
}

/** All that is kept, in an order in which nothing refers to what comes later. */
const parts: readonly Part[] = [
  {
    name: 'turns',
    table: 'turns',
    key: 'id',
    columns: ['id', ...whose, 'session', 'item', 'asked', 'answered', 'at', 'summarised', 'corrected', 'extracted'],
    content: ['asked', 'answered'],
  },
  {
    name: 'facts',
    table: 'facts',
    key: 'id',
    columns: ['id', ...whose, 'turn', 'topic', 'text', 'at', 'corrected'],
    content: ['text'],
  },
  {
    name: 'summaries',
    table: 'summaries',
    key: 'id',
    columns: ['id', ...whose, 'text', 'at', 'corrected'],
    content: ['text'],
  },
  { name: 'states', table: 'states', key: 'id', columns: ['id', ...whose, 'name', 'value', 'at'], content: ['value'] },
  {
    name: 'embeddings of turns',
    table: 'points',
    key: 'turn',
    columns: ['turn', 'model', 'point'],
    content: ['point'],
    of: 'turns',
  },
  {
    name: 'embeddings of facts',
    table: 'points',
    key: 'fact',
    columns: ['fact', 'model', 'point'],
    content: ['point'],
    of: 'facts',
  },
];

/** A row of any of these tables, with the key of the memories to which it belongs. */
type Row = Readonly<Record<string, Plain>>;

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
  onPage: (part: Part, rows: readonly Row[]) => Promise<void> = async () => undefined,
): Promise<Contents> {
  const hash = createHash('sha256');
  const counts: Record<string, number> = {};
  for (const part of parts) {
    let [last, count] = [-1, 0];
    for (;;) {
      // A row whose key was erased is not read: only the keys of rows say where a page ends.
      const end = await read(endOfPage(part, last));
      if (end === undefined) break;
      const rows = await read(pageBetween(part, last, end));
      for (const row of rows) {
        const values = part.columns.map((name) => comparable(row[name] ?? null));
        hash.update(`${part.name}${JSON.stringify(values)}\n`);
      }
      if (rows.length > 0) await onPage(part, rows);
      count += rows.length;
      last = end;
    }
    counts[part.name] = count;
  }
  return { counts, hash: hash.digest('hex') };
}

/** A value as every database returns it; PostgreSQL keeps no U+0000 (`../postgres/link.ts`). */
function comparable(value: Plain): Plain {
  if (typeof value === 'string') return value.replaceAll('\0', '\uFFFD');
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;
}

/** Key of the last row of the page after `last`; undefined if there is none. */
function* endOfPage({ table, key }: Part, last: number): Steps<number | undefined> {
  const keys = `SELECT ${key} AS "end" FROM ${table} WHERE ${key} > ? ORDER BY ${key} LIMIT ${pageSize}`;
  const [row] = yield* all<{ end: number | null }>(`SELECT max("end") AS "end" FROM (${keys}) AS page`, last);
  return row?.end ?? undefined;
}

function* pageBetween({ table, key, columns, of = table }: Part, last: number, end: number): Steps<readonly Row[]> {
  const names = columns.map((name) => `${table}."${name}"`);
  const owners = of === table ? [] : whose.map((name) => `${of}."${name}"`);
  const from = of === table ? table : `${table} JOIN ${of} ON ${of}.id = ${table}.${key}`;
  const within = `${table}.${key} > ? AND ${table}.${key} <= ?`;
  return yield* all<Row>(
    `SELECT ${[...names, ...owners].join(', ')} FROM ${from} WHERE ${within} ORDER BY ${table}.${key}`,
    last,
    end,
  );
}

function* insertIn({ table, columns, content }: Part, rows: readonly Row[]): Steps<void> {
  const names = columns.map((name) => `"${name}"`).join(', ');
  const values = rows.map((row) => columns.map((name) => valueOf(row, name, content)));
  const tuples = values.map((row) => `(${placeholders(row.length)})`).join(', ');
  yield* run(`INSERT INTO ${table} (${names}) VALUES ${tuples}`, ...values.flat());
}

function valueOf(row: Row, name: string, content: readonly string[]): Value {
  const value = row[name] ?? null;
  if (typeof value === 'number' || value === null || !content.includes(name)) return value;
  const { owner, user, character } = row;
  return new Content(value, { owner: String(owner), user: String(user), character: String(character) });
}
