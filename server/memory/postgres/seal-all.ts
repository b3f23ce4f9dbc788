import { all, Content, get, run, type Steps, type Value } from '../store/steps.ts';
import { MemoryError } from '../store/record.ts';
import type { Link } from './link.ts';
import { unsealedIn } from './sealed-content.ts';

/** Columns with content, by table. */
const contents = {
  turns: ['asked', 'answered'],
  facts: ['text'],
  summaries: ['text'],
  states: ['value'],
} as const;

/** Rows sealed in one transaction: conversations wait some tenths of a second. */
const batchRows = 200;
const batchMs = 10_000;
const vacuumMs = 600_000;

type Row = Readonly<Record<string, string>> & { readonly id: number };

/**
 * Seals all content that was stored without a key, `lock` by `lock`; `onProgress` gets the number of rows so far, and of all.
 * Embeddings are dropped with their unsealed text, and computed again when they are needed. Can be repeated after a kill.
 */
export async function sealAll(
  link: Link,
  hasKeys: boolean,
  lock: string,
  onProgress: (done: number, of: number) => void,
): Promise<number> {
  if (!hasKeys)
    throw new MemoryError('invalid_value', 'There are no keys to seal with. Set DRAMATIS_MEMORY_KEYS_URL to a Redis.');
  const tables = Object.keys(contents) as (keyof typeof contents)[];
  let of = 0;
  for (const table of tables) of += await link.read(unsealed(table), batchMs);
  let done = 0;
  for (const table of tables) {
    for (;;) {
      const sealed = await link.transaction(lock, sealSome(table), batchMs);
      if (sealed === 0) break;
      onProgress((done += sealed), of);
    }
  }
  await link.transaction('', run(`DELETE FROM points WHERE ${unsealedIn(['point'])}`), batchMs);
  await link.use(vacuumMs, (client) => client.query(`VACUUM ${tables.join(', ')}, points`));
  return done;
}

function* unsealed(table: keyof typeof contents): Steps<number> {
  const row = yield* get(`SELECT count(*) AS count FROM ${table} WHERE ${unsealedIn(contents[table])}`);
  return Number(row?.['count']);
}

function* sealSome(table: keyof typeof contents): Steps<number> {
  const columns = contents[table];
  const sql = `SELECT * FROM ${table} WHERE ${unsealedIn(columns)} ORDER BY id LIMIT ${batchRows}`;
  const rows = yield* all<Row>(sql);
  for (const row of rows) {
    const { owner = '', user = '', character = '' } = row;
    const values: Value[] = columns.map((name) => new Content(row[name] ?? '', { owner, user, character }));
    yield* run(
      `UPDATE ${table} SET ${columns.map((name) => `${name} = ?`).join(', ')} WHERE id = ?`,
      ...values,
      row.id,
    );
  }
  return rows.length;
}
