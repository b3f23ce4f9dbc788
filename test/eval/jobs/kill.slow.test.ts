import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { LogLine } from '../../../eval/run-log.ts';
import { openTextModelServer } from '../../fakes/servers/text-model-server.ts';
import { hasPostgres, hasRedis, startPostgres, startRedis, until } from '../../rigs/cluster-rig.ts';
import { evaluate } from '../../rigs/eval-rig.ts';
import { startCommand } from './jobs-rig.ts';
import { freePort } from '../../rigs/kill-rig.ts';
import { makeRoleBench } from '../rolebench/small-rolebench.ts';
import { openScratch } from '../scratch.ts';

if (!hasRedis) console.warn('skipped: the test of killed jobs needs redis-server (Debian package redis-server)');

const models = { actor: () => 'I never lose it.', judge: () => 'It fits.\n**Verdict:** A' };
const concurrency = 4;

/** A store that is killed, and comes back: Redis without its data, PostgreSQL with it. */
interface Killable {
  readonly url: string;
  crash(): Promise<void>;
  end(): Promise<void>;
}

async function openRedis(): Promise<Killable> {
  const port = await freePort();
  let redis = await startRedis(port);
  const crash = async (): Promise<void> => {
    await redis.kill();
    redis = await startRedis(port);
  };
  return { url: redis.url, crash, end: () => redis.kill() };
}

async function openPostgres(): Promise<Killable> {
  const server = await startPostgres();
  return { url: await server.createDatabase('jobs'), crash: () => server.crash(), end: () => server.stop() };
}

describe.each([
  ['Redis', hasRedis, openRedis],
  ['PostgreSQL', hasPostgres, openPostgres],
] as const)('jobs in %s', (_name, isThere, open) => {
  it.skipIf(!isThere)(
    'a run whose worker, store and own process are killed gives the results of a quiet run',
    async () => {
      await using scratch = await openScratch();
      const data = path.join(scratch.path, 'data');
      await mkdir(data);
      await makeRoleBench(data);
      const store = await open();
      await using ends = new AsyncDisposableStack();
      ends.defer(() => store.end());
      await using server = await openTextModelServer(models, { delayMs: 100 });
      const [near, far] = [path.join(scratch.path, 'near'), path.join(scratch.path, 'far')];
      const places = ['--judge-concurrency', `${concurrency}`, '--agent-concurrency', `${concurrency}`];
      const judge = ['--judge', `${server.url}/v1`, '--judge-model', 'judge', ...places];
      const run = ['run', '--task', 'rolebench', '--data', data, '--agent', `chat:${server.url}/v1#actor`, ...judge];
      expect((await evaluate([...run, '--out', near])).status).toBe(0);
      const calls = server.answered;

      const jobs = ['--jobs', store.url, '--worker-timeout', '1'];
      const [first, second] = [0, 1].map(() => startCommand(['worker', '--jobs', store.url])) as [
        ReturnType<typeof startCommand>,
        ReturnType<typeof startCommand>,
      ];
      const begun = startCommand(['eval', ...run, '--out', far, ...jobs]);
      await Promise.all([first.told('working on'), second.told('working on')]);
      const answers = (count: number): Promise<void> => until(() => server.answered >= calls + count);
      await answers(10);
      first.child.kill('SIGKILL');
      await answers(25);
      await store.crash();
      await answers(40);
      begun.child.kill('SIGKILL');
      expect(await begun.exited).toBe(null);
      const third = startCommand(['worker', '--jobs', store.url]);
      const resumed = startCommand(['eval', 'resume', far, ...jobs]);
      await third.told('working on');
      // Stopped as an operator does: it finishes what it has.
      second.child.kill('SIGTERM');
      expect(await second.exited).toBe(0);
      expect(await resumed.exited).toBe(0);
      third.child.kill('SIGTERM');
      expect(await third.exited).toBe(0);

      const text = (folder: string, file: string): Promise<string> => readFile(path.join(folder, file), 'utf8');
      expect(await text(far, 'results.json')).toBe(await text(near, 'results.json'));
      const lines = (await text(far, 'log.jsonl'))
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as LogLine);
      const measured = lines.flatMap((line) => (line.event === 'measured' ? [`${line.sample} ${line.ask}`] : []));
      expect([measured.length, new Set(measured).size]).toEqual([60, 60]);
      expect(lines.filter(({ event }) => event === 'output')).toHaveLength(30);
      expect(lines.filter(({ event }) => event === 'failed')).toEqual([]);
      // A kill of a worker or of the store repeats what is under way, in both queues; that of the run nothing.
      expect(server.answered - 2 * calls).toBeLessThanOrEqual(2 * 2 * concurrency);
    },
    120_000,
  );
});
