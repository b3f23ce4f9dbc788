import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { metricKeys } from '../judging/metrics.ts';

const row = z.object({
  system: z.string(),
  language: z.enum(['en', 'zh']),
  /** Only in Table 3. */
  domain: z.enum(['in', 'out']).optional(),
  /** Scores in the order of `metricKeys`. */
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

/** A leaderboard row. Rows are comparable only if `protocol`, `judge` and `aggregation` are equal. */
export interface LeaderboardRow {
  readonly system: string;
  readonly language: 'en' | 'zh';
  readonly domain: 'in' | 'out' | 'all';
  readonly values: readonly (number | null)[];
  readonly overall: number | null;
  /** Scored and chosen dialogues; null if not reported. */
  readonly coverage: string | null;
  readonly protocol: string;
  readonly judge: string;
  /** False if no check of this judge is known; null in the paper's rows. */
  readonly isJudgeChecked: boolean | null;
  readonly aggregation: string;
  /** `paper`, or the run's folder. */
  readonly source: string;
}

/** Returns the paper's rows in leaderboard form; values that the paper does not report are null. */
export function paperRows(table: 'table2' | 'table3'): LeaderboardRow[] {
  const { protocol, judge } = paperTables;
  return paperTables[table].map(({ system, language, domain, values, overall }) => ({
    system,
    language,
    domain: domain ?? 'all',
    values,
    overall,
    coverage: null,
    protocol,
    judge,
    isJudgeChecked: null,
    // According to the paper's text; the released code does not aggregate.
    aggregation: 'mean-of-ratios',
    source: 'paper',
  }));
}

/** Groups comparable rows into tables, best first; the heading states how they were judged. */
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
