import type { MemoryRecord, UserKey } from './record.ts';
import { ofUser, partsOf, recordOf } from './rows.ts';
import { all, type Steps } from './steps.ts';

export interface ExportPage {
  /** Memories as JSON, one per line, separated by commas. */
  readonly text: string;
  /** Id of the last memory, from which the next page continues. Absent on the last page. */
  readonly last?: string;
}

const pageSize = 200;
const order = ['turns', 'facts', 'summaries'] as const;

/** Returns a page of a user's memories, after the id `after`: turns, facts and summaries, each oldest first. */
export function* pageIn({ owner, user }: UserKey, character = '', after: string | undefined = 't0'): Steps<ExportPage> {
  const begin = partsOf(after);
  const records: MemoryRecord[] = [];
  for (const table of order.slice(order.indexOf(begin.table))) {
    const rows = yield* all(
      `SELECT * FROM ${table} WHERE ${ofUser} AND (? = '' OR character = ?) AND id > ? ORDER BY id LIMIT ?`,
      owner,
      user,
      character,
      character,
      table === begin.table ? begin.number : 0,
      pageSize - records.length,
    );
    records.push(...rows.map((row) => recordOf[table](row as never)));
  }
  const text = records.map((record) => JSON.stringify(record)).join(',\n');
  const last = records.length === pageSize ? records.at(-1)?.id : undefined;
  return { text, ...(last === undefined ? {} : { last }) };
}

/** Yields an export as a JSON document, page by page. */
export async function* exportOf(
  head: Readonly<Record<string, unknown>>,
  pageAfter: (last?: string) => ExportPage | Promise<ExportPage>,
): AsyncGenerator<string> {
  let { text, last } = await pageAfter();
  yield `${JSON.stringify(head).slice(0, -1)},"memories":[\n${text}`;
  while (last !== undefined) {
    const next: ExportPage = await pageAfter(last);
    if (next.text !== '') yield `,\n${next.text}`;
    last = next.last;
  }
  yield '\n]}\n';
}
