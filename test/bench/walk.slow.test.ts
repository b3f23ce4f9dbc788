import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { BenchRow } from './kit/stats.ts';

const main = path.join(import.meta.dirname, 'main.ts');

/** Most source files that each may enter, at the median. */
const goals = { '200 ms of speech': 35, 'a whole spoken turn': 75, 'an eval sample': 45 };

describe('the number of source files that work goes through', () => {
  it('stays within its goals for 200 ms of speech, a spoken turn and an eval sample', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [main, 'walk', '--json'], { maxBuffer: 1e7 });
    const rows = stdout.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as BenchRow] : []));
    for (const [what, most] of Object.entries(goals)) {
      const row = rows.find(({ metric }) => metric === `files entered by ${what}`);
      expect.soft(row?.median, what).toBeLessThanOrEqual(most);
    }
  }, 300_000);
});
