import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import type { PublishedTable } from './text-task.ts';

const tables = z.array(
  z.object({
    table: z.string(),
    source: z.string(),
    protocol: z.string(),
    judge: z.string(),
    part: z.string(),
    rows: z.array(z.object({ system: z.string(), values: z.record(z.string(), z.number().nullable()) })),
  }),
);

/** Reads `paper-tables.json` of a benchmark's folder: what the paper has published. */
export function publishedTables(folder: string): readonly PublishedTable[] {
  return tables.parse(JSON.parse(readFileSync(path.join(folder, 'paper-tables.json'), 'utf8')));
}
