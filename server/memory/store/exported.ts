import type { MemoryRecord, UserKey } from './record.ts';
import { idOf, ofUser, partsOf, recordOf } from './rows.ts';
import { all, type Steps } from './steps.ts';

export interface ExportPage {
  /** Memories as JSON, one per line, separated by commas. */
  readonly text: string;
  /** Id of the last memory, from which the next page continues. Absent on the last page. */
  readonly last?: string;
}

const pageSize = 200;
const order = ['turns', 'facts', 'summaries'] as const;

/**
 * Returns a page of a user's memories, after the id `after`: turns, facts and summaries, each oldest first. It may be empty
 * before the last one: rows whose key was erased (`../postgres/data-keys.ts`) are not read, so ids alone say where a page ends.
 */
export function* pageIn({ owner, user }: UserKey, character = '', after: string | undefined = 't0'): Steps<ExportPage> {
  const begin = partsOf(after);
  const records: MemoryRecord[] = [];
  const where = `${ofUser} AND (? = '' OR character = ?) AND id > ?`;
  let [left, last] = [pageSize, after];
  for (const table of order.slice(order.indexOf(begin.table))) {
    const whose = [owner, user, character, character, table === begin.table ? begin.number : 0];
    const ids = yield* all<{ id: number }>(
      `SELECT id FROM ${table} WHERE ${where} ORDER BY id LIMIT ?`,
      ...whose,
      left,
    );
    const end = ids.at(-1)?.id;
    if (end === undefined) continue;
    const rows = yield* all(`SELECT * FROM ${table} WHERE ${where} AND id <= ? ORDER BY id`, ...whose, end);
    records.push(...rows.map((row) => recordOf[table](row as never)));
    left -= ids.length;
    last = idOf(table, end);
  }
  const text = records.map((record) => JSON.stringify(record)).join(',\n');
  return { text, ...(left > 0 ? {} : { last }) };
}

/** Yields an export as a JSON document, page by page. */
export async function* exportOf(
  head: Readonly<Record<string, unknown>>,
  pageAfter: (last?: string) => ExportPage | Promise<ExportPage>,
): AsyncGenerator<string> {
  let { text, last } = await pageAfter();
  yield `${JSON.stringify(head).slice(0, -1)},"memories":[\n${text}`;
  let isFirst = text === '';
  while (last !== undefined) {
    ({ text, last } = await pageAfter(last));
    if (text === '') continue;
    yield isFirst ? text : `,\n${text}`;
    isFirst = false;
  }
  yield '\n]}\n';
}
