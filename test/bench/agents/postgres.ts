import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openPostgresStore } from '../../../server/memory/postgres/postgres-store.ts';
import { copyMemories } from '../../../server/memory/store/copied.ts';
import type { AsyncStore } from '../../../server/memory/store/operations.ts';
import { memoryFile, MemoryStore } from '../../../server/memory/store/store.ts';
import { openStoreThread } from '../../../server/memory/store/store-thread.ts';
import { hasPostgres, hasRedis, startPostgres, startRedis } from '../../rigs/cluster-rig.ts';
import { freePort } from '../../rigs/kill-rig.ts';
import { summarize, type BenchRow, type BenchShare } from '../kit/stats.ts';
import { killAtRandom, rowsOf } from './memory-kill.ts';
import { keep, recalling } from './memory.ts';

/** A busy machine is no database that is gone. */
const patient = { onChange: () => undefined, patience: 60 };

/**
 * Memories in PostgreSQL, as they are and sealed, against those in a file (the baseline): storing turns from eight talks at
 * once, recalling, copying; then servers that are killed, and the database with each tenth of them. `--turns 2000`, `--kills 200` unless
 * given. Commits reach the disk (`fsync`), as they do not with a file.
 */
export async function* run(args: readonly string[]): AsyncIterable<BenchRow | BenchShare> {
  if (!hasPostgres) return;
  const numberOf = (flag: string, usual: number): number =>
    args.includes(flag) ? Number(args[args.indexOf(flag) + 1]) : usual;
  const turns = numberOf('--turns', 2_000);
  const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-postgres-bench-'));
  const postgres = await startPostgres({ fsync: true });
  try {
    const file = await openStoreThread(memoryFile(folder));
    yield* timesOf('a file', file, turns);
    await file.close();
    const store = await openPostgresStore({ url: await postgres.createDatabase('turns'), ...patient });
    yield* timesOf('PostgreSQL', store, turns);
    await store.close();
    if (hasRedis) {
      const redis = await startRedis(await freePort(), ['--appendonly', 'yes']);
      const url = await postgres.createDatabase('sealed');
      const sealed = await openPostgresStore({ url, keysUrl: redis.url, ...patient });
      yield* timesOf('PostgreSQL, sealed', sealed, turns);
      await sealed.close();
      await redis.kill();
    }
    const target = await openPostgresStore({ url: await postgres.createDatabase('copied'), ...patient });
    const source = new MemoryStore(memoryFile(folder));
    const began = performance.now();
    await copyMemories(source, target);
    yield summarize('postgres', `copying ${turns} turns with their facts, compared`, 'ms', [performance.now() - began]);
    source.close();
    await target.close();
    const kills = numberOf('--kills', 200);
    yield* rowsOf('postgres', await killAtRandom(kills, 60));
    const url = await postgres.createDatabase('kills');
    const report = await killAtRandom(kills, 60, { url, crash: () => postgres.crash(), every: 10 });
    for (const row of rowsOf('postgres', report)) yield { ...row, metric: `PostgreSQL: ${row.metric}` };
  } finally {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function* timesOf(where: string, store: AsyncStore, turns: number): AsyncIterable<BenchRow> {
  const began = performance.now();
  yield summarize('postgres', `keeping a turn with its facts in ${where}`, 'ms', await keep(store, turns));
  yield summarize('postgres', `turns kept a second in ${where}`, '1/s', [
    (turns * 1_000) / (performance.now() - began),
  ]);
  const { openMs, recallMs } = await recalling(store);
  yield summarize('postgres', `recalling for a remark from ${where}`, 'ms', recallMs);
  yield summarize('postgres', `beginning a talk (its index) from ${where}`, 'ms', openMs);
}
