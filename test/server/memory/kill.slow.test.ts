import { expect, it } from 'vitest';
import { hasPostgres, startPostgres } from '../../rigs/cluster-rig.ts';
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

it.skipIf(!hasPostgres)(
  'keeps every acknowledged turn exactly once in PostgreSQL when server and database are killed',
  async () => {
    const postgres = await startPostgres();
    const kills = Number(process.env['DRAMATIS_TEST_KILLS'] ?? 3);
    const url = await postgres.createDatabase('kills');
    const { acknowledged, ...report } = await killAtRandom(kills, 20, { url, crash: () => postgres.crash(), every: 2 });
    await postgres.stop();
    expect(acknowledged).toBeGreaterThan(kills);
    const opened = Array.from({ length: kills }, () => true);
    expect(report).toMatchObject({ kills, lost: 0, returned: 0, doubled: 0, opened });
  },
  120_000,
);
