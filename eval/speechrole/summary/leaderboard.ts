import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { metricKeys } from '../judging/metrics.ts';

const row = z.object({
  system: z.string(),
  language: z.enum(['en', 'zh']),
  /** Of Table 3 alone. */
  domain: z.enum(['in', 'out']).optional(),
  /** In the order of the metrics. */
  values: z.array(z.number()).length(metricKeys.length),
  overall: z.number(),
});
const schema = z.object({
  source: z.string(),
  protocol: z.string(),
  judge: z.string(),
  table2: z.array(row),
  table3: z.array(row),
});

/** The paper's Tables 2 and 3. */
export const paperTables = schema.parse(
  JSON.parse(readFileSync(path.join(import.meta.dirname, 'paper-tables.json'), 'utf8')),
);

/** One row of the leaderboard. Rows may be compared where `protocol`, `judge` and `aggregation` are the same, and not otherwise. */
export interface LeaderboardRow {
  readonly system: string;
  readonly language: 'en' | 'zh';
  readonly domain: 'in' | 'out' | 'all';
  readonly values: readonly (number | null)[];
  readonly overall: number | null;
  readonly n: number | null;
  readonly protocol: string;
  readonly judge: string;
  readonly aggregation: string;
  /** `paper`, or the folder of the run. */
  readonly source: string;
}

/** The paper's rows in the form of the leaderboard; what the paper does not say is told as such. */
export function paperRows(table: 'table2' | 'table3'): LeaderboardRow[] {
  const { protocol, judge } = paperTables;
  return paperTables[table].map(({ system, language, domain, values, overall }) => ({
    system,
    language,
    domain: domain ?? 'all',
    values,
    overall,
    n: null,
    protocol,
    judge,
    // The text says so; the released code has none.
    aggregation: 'mean-of-ratios',
    source: 'paper',
  }));
}

/** Rows that may stand in one table, best first; each table is headed by how it was judged. */
export function leaderboard(
  rows: readonly LeaderboardRow[],
): { readonly heading: string; readonly rows: readonly LeaderboardRow[] }[] {
  const groups = Map.groupBy(rows, (each) =>
    [
      each.language === 'en' ? 'English' : 'Chinese',
      each.domain === 'all' ? 'all roles' : `${each.domain}-domain`,
      `protocol ${each.protocol}`,
      `judge ${each.judge}`,
      each.aggregation,
    ].join(' · '),
  );
  return [...groups].map(([heading, members]) => ({
    heading,
    rows: members.toSorted((a, b) => (b.overall ?? -1) - (a.overall ?? -1)),
  }));
}
