import { expect, it } from 'vitest';
import { killAtRandom } from '../../bench/agents/memory-kill.ts';

it('keeps every acknowledged turn exactly once when the server is killed at fifteen random moments', async () => {
  const { acknowledged, ...report } = await killAtRandom(15, 40);
  expect(acknowledged).toBeGreaterThan(60);
  expect(report.deleted).toBeGreaterThan(10);
  expect(report).toMatchObject({
    kills: 15,
    lost: 0,
    returned: 0,
    doubled: 0,
    opened: Array.from({ length: 15 }, () => true),
  });
}, 120_000);
