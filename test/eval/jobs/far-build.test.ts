import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runData } from '../../../eval/construction/cli/data.ts';
import { hasRedis, startRedis } from '../../rigs/cluster-rig.ts';
import { startWorker } from './jobs-rig.ts';
import { freePort } from '../../rigs/kill-rig.ts';
import { coserScript } from '../construction/coser/coser-script.ts';
import { filesOf } from '../construction/rig/build-rig.ts';
import { openScriptedServer } from '../construction/rig/scripted-server.ts';
import { openScratch } from '../scratch.ts';

const book = path.resolve(import.meta.dirname, '../construction/books-in-public-domain/a-scandal-in-bohemia.txt');

if (!hasRedis) console.warn('skipped: the tests of jobs need redis-server (Debian package redis-server)');

let redis: Awaited<ReturnType<typeof startRedis>>;
beforeAll(async () => {
  if (hasRedis) redis = await startRedis(await freePort());
});
afterAll(async () => redis?.kill());

async function build(out: string, url: string, ...more: readonly string[]): Promise<number> {
  const stages = ['refine', 'names', 'profiles'].map((stage) => `${stage}=${url}#${stage}`).join(',');
  const flags = ['--in', book, '--rights', 'public domain', '--chunk-tokens', '1000', '--out', out];
  return runData(['build', 'coser', ...flags, '--model', `${url}#extract,${stages}`, ...more], {
    signal: new AbortController().signal,
    environment: {},
    print: () => undefined,
    note: () => undefined,
    openStudio: () => Promise.reject(new Error('no engines here')),
  });
}

describe.skipIf(!hasRedis)('data build --jobs', () => {
  it('writes the bytes of a build without workers, and asks each question once', async () => {
    await using scratch = await openScratch();
    // One call in ten goes wrong, the same ones in both builds.
    const answers = coserScript(['Sherlock Holmes', 'Doctor Watson', 'King of Bohemia']);
    const [near, far] = [path.join(scratch.path, 'near'), path.join(scratch.path, 'far')];
    await using nearServer = await openScriptedServer(answers, 0.1);
    expect(await build(near, nearServer.url)).toBe(0);
    await using farServer = await openScriptedServer(answers, 0.1);
    await using _first = startWorker(redis.url);
    await using _second = startWorker(redis.url);
    expect(await build(far, farServer.url, '--jobs', redis.url)).toBe(0);
    expect(await filesOf(far)).toEqual(await filesOf(near));
    expect(farServer.calls.toSorted()).toEqual(nearServer.calls.toSorted());
  });
});
