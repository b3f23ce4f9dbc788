import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { limits } from '../../../server/limits/limits.ts';

describe('limits', () => {
  it('are all listed in SECURITY.md, each with its value, unit and reason', () => {
    const page = readFileSync('server/SECURITY.md', 'utf8');
    const listed = [...page.matchAll(/^\| `(\w+)` \| (.+?) \| (.+?) \|$/gm)].map(([, ...row]) => row);
    const rows = Object.entries(limits).map(([name, { value, unit, reason }]) => [
      name,
      `${value.toLocaleString('en')} ${unit}`,
      reason,
    ]);
    expect(listed).toEqual(rows);
  });
});
