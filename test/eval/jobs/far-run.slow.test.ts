import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunFacts } from '../../../eval/jobs/run-facts.ts';
import { JobStore } from '../../../eval/jobs/store.ts';
import { readRunHeader, type LogLine, type RunHeader } from '../../../eval/run-log.ts';
import { packageVersion } from '../../../server/terminal/version.ts';
import { lastOf, openTextModelServer } from '../../fakes/servers/text-model-server.ts';
import { hasRedis, startRedis, until } from '../../rigs/cluster-rig.ts';
import { evaluate } from '../../rigs/eval-rig.ts';
import { startWorker } from './jobs-rig.ts';
import { freePort } from '../../rigs/kill-rig.ts';
import { makeRoleBench } from '../rolebench/small-rolebench.ts';
import { openScratch } from '../scratch.ts';

if (!hasRedis) console.warn('skipped: the tests of jobs need redis-server (Debian package redis-server)');

let redis: Awaited<ReturnType<typeof startRedis>>;
beforeAll(async () => {
  if (hasRedis) redis = await startRedis(await freePort());
});
afterAll(async () => redis?.kill());

const models = {
  actor: (request: Parameters<typeof lastOf>[0]) => `I say: ${lastOf(request).trim()} And I never lose it.`,
  judge: (request: Parameters<typeof lastOf>[0]) =>
    `It fits.\n**Verdict:** ${lastOf(request).length % 2 === 0 ? 'A' : 'B'}`,
};

function argsOf(data: string, out: string, url: string, more: readonly string[] = []): string[] {
  const agent = ['--agent', `chat:${url}/v1#actor`];
  const judge = ['--judge', `${url}/v1`, '--judge-model', 'judge', '--judge-prices', '1000,0,0'];
  return ['run', '--task', 'rolebench', '--data', data, '--out', out, ...agent, ...judge, ...more];
}

/** The lines of a log as a set: without times, and without the first line, which has the time of the run. */
async function linesOf(folder: string): Promise<string[]> {
  const text = await readFile(path.join(folder, 'log.jsonl'), 'utf8');
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as LogLine);
  return lines
    .filter(({ event }) => event !== 'run' && event !== 'ended')
    .map((line) => JSON.stringify({ ...line, ms: 0 }))
    .toSorted();
}

function resultsOf(folder: string): Promise<string> {
  return readFile(path.join(folder, 'results.json'), 'utf8');
}

/** What is left of jobs in Redis, except the marks of runs that have ended, which expire. */
async function keysIn(url: string): Promise<string[]> {
  const client = new Redis(url);
  const keys = await client.keys('dramatis-jobs:*');
  client.disconnect();
  return keys.filter((key) => !key.endsWith(':ended'));
}

describe.skipIf(!hasRedis)('eval run --jobs', () => {
  it('gives the log and the results of a run without workers', async () => {
    await using scratch = await openScratch();
    const data = path.join(scratch.path, 'data');
    await mkdir(data);
    await makeRoleBench(data);
    await using server = await openTextModelServer(models);
    const [near, far] = [path.join(scratch.path, 'near'), path.join(scratch.path, 'far')];
    expect((await evaluate(argsOf(data, near, server.url))).status).toBe(0);
    const calls = server.answered;
    await using first = startWorker(redis.url);
    await using second = startWorker(redis.url);
    const ran = await evaluate(argsOf(data, far, server.url, ['--jobs', redis.url]));
    expect(ran.status).toBe(0);
    expect(server.answered).toBe(2 * calls);
    expect(await linesOf(far)).toEqual(await linesOf(near));
    expect(await resultsOf(far)).toBe(await resultsOf(near));
    for (const worker of [first, second]) {
      expect(worker.said.join('\n')).toContain(`working on ${far}`);
      await worker.stop();
    }
    expect(await keysIn(redis.url)).toEqual([]);
  });

  it('stops at --max-cost after the calls in progress, over all workers, and continues with a higher limit', async () => {
    await using scratch = await openScratch();
    const data = path.join(scratch.path, 'data');
    await mkdir(data);
    await makeRoleBench(data);
    // A question to the judge costs 0.1 dollars.
    await using server = await openTextModelServer(models);
    const [near, far] = [path.join(scratch.path, 'near'), path.join(scratch.path, 'far')];
    await evaluate(argsOf(data, near, server.url));
    await using _first = startWorker(redis.url);
    await using _second = startWorker(redis.url);
    const flags = ['--jobs', redis.url, '--judge-concurrency', '3', '--max-cost', '2'];
    const ran = await evaluate(argsOf(data, far, server.url, flags));
    expect([ran.status, ran.printed]).toEqual([1, expect.stringContaining('--max-cost 2 is used up')]);
    const measured = (await linesOf(far)).filter((line) => line.includes('"measured"')).length;
    expect(measured).toBeGreaterThanOrEqual(20);
    expect(measured).toBeLessThan(20 + 3);
    expect((await evaluate(['resume', far, '--jobs', redis.url])).status).toBe(0);
    expect(await resultsOf(far)).toBe(await resultsOf(near));
    expect(server.answered).toBe(2 * 90);
  });

  it('refuses runs of other data, other prompts and other versions, and says why', async () => {
    await using scratch = await openScratch();
    await makeRoleBench(scratch.path);
    await using server = await openTextModelServer(models);
    const near = path.join(scratch.path, 'near');
    await evaluate(argsOf(scratch.path, near, server.url, ['--limit', '1']));
    const header = await readRunHeader(path.join(near, 'log.jsonl'));
    const store = await JobStore.open(redis.url, () => undefined);
    const facts = (id: string, changed: Partial<RunHeader>, version = packageVersion()): RunFacts => {
      const about = { header: { ...header, ...changed }, config: header.config };
      return { id, version, work: 'eval', folder: near, about, kinds: {}, leaseMs: 60_000, maxDollars: null };
    };
    await using _worker = startWorker(redis.url);
    const reasonOf = async (run: RunFacts): Promise<string> => {
      let reason: string | null = null;
      await store.announce(run);
      await until(async () => (reason = await store.nextRefusal(run.id)) !== null);
      await store.withdraw(run.id, { isWhole: true });
      return reason ?? '';
    };
    expect(await reasonOf(facts('a', { data: { hash: 'other', samples: 1 } }))).toContain(
      'the test data differs from that of the run',
    );
    expect(await reasonOf(facts('b', { prompts: { 'other.txt': 'x' } }))).toContain(
      'the prompts differ from those of the run',
    );
    expect(await reasonOf(facts('c', {}, '0.0.0'))).toContain('Use the same version');
    await store.close();
  });

  it('says what to do if no Redis answers, or the URL is invalid', async () => {
    await using scratch = await openScratch();
    const out = path.join(scratch.path, 'far');
    const wrong = await evaluate(argsOf(scratch.path, out, 'http://127.0.0.1:9', ['--jobs', 'localhost']));
    expect(wrong).toMatchObject({ status: 2, printed: expect.stringContaining('must be redis://HOST:PORT') });
  });
});
