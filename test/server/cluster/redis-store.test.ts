import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Redis } from 'ioredis';
import { RedisStore } from '../../../server/cluster/redis-store.ts';
import type { LogCalls } from '../../../server/journal/journal.ts';
import type { JournalLine } from '../../../server/journal/lines.ts';
import { restore } from '../../../server/journal/restore.ts';
import { hasRedis, startRedis, until } from '../../rigs/cluster-rig.ts';
import { freePort } from '../../rigs/kill-rig.ts';

if (!hasRedis) console.warn('skipped: the tests of the Redis store need redis-server (Debian package redis-server)');

let redis: Awaited<ReturnType<typeof startRedis>>;
let client: Redis;
const stores: RedisStore[] = [];
beforeAll(async () => {
  if (!hasRedis) return;
  redis = await startRedis(await freePort());
  client = new Redis(redis.url);
});
afterAll(async () => {
  client?.disconnect();
  await Promise.all(stores.map((store) => store.close()));
  await redis?.kill();
});

async function openStore(nodeUrl: string): Promise<RedisStore> {
  const about = () => ({ version: '0', sessions: 0, draining: false });
  const store = new RedisStore({ redisUrl: redis.url, nodeUrl, graceMs: 60_000, about, onChange: () => undefined });
  stores.push(store);
  await store.begin();
  return store;
}

/** Calls of a log that count. */
function counted(): LogCalls & { taken: number; readonly faults: unknown[] } {
  const calls = {
    taken: 0,
    faults: [] as unknown[],
    onFault: (fault: unknown) => void calls.faults.push(fault),
    onTaken: () => void (calls.taken += 1),
  };
  return calls;
}

const open: JournalLine = { type: 'open', id: 'sess_1', character: 'alice', model: 'alice' };
const line = (upTo: number): JournalLine => ({ type: 'sequence', upTo });

async function linesIn(hash: string): Promise<unknown[]> {
  return (await client.lrange(`dramatis:{${hash}}:lines`, 0, -1)).map((row) => JSON.parse(row) as unknown);
}

describe.skipIf(!hasRedis)('RedisStore', () => {
  it('refuses writes of a node after another one has claimed the session, and reports it once', async () => {
    const [first, second] = [await openStore('http://first'), await openStore('http://second')];
    const [left, right] = [counted(), counted()];
    const old = first.open('fenced', left);
    old.write([open, line(1)]);
    await until(() => old.writtenTo === 2);
    expect(await second.whereIs('fenced')).toEqual({ url: 'http://first' });
    expect(await second.claim('fenced')).toBe(true);
    expect(second.read('fenced')).toEqual([open, line(1)]);
    const next = second.open('fenced', right);
    old.write([line(99)]);
    next.write([line(2)]);
    await until(() => next.writtenTo === 3 && left.taken === 1);
    old.write([line(100)]);
    expect(await first.owns('fenced')).toBe(true);
    expect(await linesIn('fenced')).toEqual([open, line(1), line(2)]);
    expect([left.taken, right.taken, first.figures.fenced]).toEqual([1, 0, 1]);
    expect(await first.whereIs('fenced')).toEqual({ url: 'http://second' });
  });

  it('does not bring a session back that has ended elsewhere while its node slept', async () => {
    const [first, second] = [await openStore('http://first'), await openStore('http://second')];
    const calls = counted();
    const old = first.open('ended', calls);
    old.write([open]);
    await until(() => old.writtenTo === 1);
    await second.claim('ended');
    second.open('ended', counted()).remove();
    await until(async () => (await second.whereIs('ended')) === 'ended');
    old.write([line(1)]);
    await until(() => calls.taken === 1);
    expect(await linesIn('ended')).toEqual([]);
    expect(await second.claim('ended')).toBe(false);
  });

  it('grants one of two simultaneous claims, and releases a session that was not opened', async () => {
    const [first, second] = [await openStore('http://first'), await openStore('http://second')];
    const log = first.open('twice', counted());
    log.write([open]);
    await log.close();
    expect(await second.whereIs('twice')).toBe('free');
    expect(await Promise.all([second.claim('twice'), second.claim('twice')])).toEqual([true, true]);
    expect(await client.hget('dramatis:{twice}:owner', 'epoch')).toBe('2');
    second.drop('twice');
    await until(async () => (await first.whereIs('twice')) === 'free');
    expect(second.has('twice')).toBe(false);
  });

  it('keeps a journal short that restores the same session', async () => {
    const store = await openStore('http://only');
    const log = store.open('long', counted());
    log.write([open]);
    const said = Array.from({ length: 500 }, (_, number) => line(number));
    for (const one of said) {
      log.write([one]);
      if (one === said[250]) await until(() => log.writtenTo > 250);
    }
    await until(() => log.writtenTo === 501);
    const kept = (await linesIn('long')) as JournalLine[];
    expect(kept.length).toBeLessThan(130);
    expect(restore(kept, 400)).toEqual(restore([open, ...said], 400));
  });

  it('writes all events of a session when Redis answers again, and reports the fault once', async () => {
    const store = await openStore('http://only');
    const calls = counted();
    const log = store.open('away', calls);
    log.write([open]);
    await until(() => log.writtenTo === 1);
    redis.signal('SIGSTOP');
    log.write([line(1)]);
    expect(log.holdsFrames).toBe(true);
    await until(() => !log.holdsFrames);
    log.write([line(2)]);
    await expect(store.whereIs('elsewhere')).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await store.owns('away')).toBe(true);
    expect([log.writtenTo, store.figures.unkept, calls.faults.length]).toEqual([1, 1, 1]);
    redis.signal('SIGCONT');
    await until(() => store.figures.unkept === 0);
    expect(restore((await linesIn('away')) as JournalLine[], 400)?.sequence).toBe(2);
    expect(log.holdsFrames).toBe(true);
  });

  it('says where a journal cannot be read, and leaves it to a node that can', async () => {
    const [first, second] = [await openStore('http://first'), await openStore('http://second')];
    const log = first.open('newer', counted());
    log.write([{ ...open, version: 99 }]);
    void log.close();
    await until(async () => (await second.whereIs('newer')) === 'free');
    await second.claim('newer');
    expect(() => second.read('newer')).toThrow(/newer\}:lines:1: this journal has version 99/);
    await until(async () => (await first.whereIs('newer')) === 'free');
  });
});
