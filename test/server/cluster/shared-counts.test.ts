import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Redis } from 'ioredis';
import { RedisStore } from '../../../server/cluster/redis-store.ts';
import { hasRedis, startRedis, until } from '../../rigs/cluster-rig.ts';
import { freePort } from '../../rigs/kill-rig.ts';
import { serve } from '../../rigs/serve-rig.ts';

if (!hasRedis) console.warn('skipped: the tests of shared counts need redis-server');

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

async function openStore(): Promise<RedisStore> {
  const about = () => ({ version: '0', sessions: 0, draining: false });
  const options = { redisUrl: redis.url, nodeUrl: 'http://node', graceMs: 60_000, about, onChange: () => undefined };
  const store = new RedisStore({ ...options, patienceMs: 5_000 });
  stores.push(store);
  await store.begin();
  return store;
}

describe.skipIf(!hasRedis)('sessions of all nodes', () => {
  it('take as many places as there are, of 300 attempts at once on three nodes; also after their nodes are gone', async () => {
    const nodes = await Promise.all([openStore(), openStore(), openStore()]);
    const limit = { name: 'key:app', most: 100 };
    const attempt = () =>
      Promise.all(
        Array.from({ length: 300 }, (_, at) =>
          nodes[at % 3]!.counts.enter([limit, { name: 'address:a', most: 1_000 }]),
        ),
      );
    const isIn = (outcome: unknown): outcome is () => void => typeof outcome === 'function';
    const first = await attempt();
    expect(first.filter(isIn)).toHaveLength(100);
    expect(first.find((one) => !isIn(one))).toEqual(limit);
    for (const leave of first.filter(isIn).slice(0, 7)) leave();
    await until(async () => (await client.zcard('dramatis:count:key:app')) === 93);
    expect((await attempt()).filter(isIn)).toHaveLength(7);
    // Refused attempts hold no place anywhere.
    await until(async () => (await client.zcard('dramatis:count:address:a')) === 100);
    // Nobody has said for a while that these are still taken.
    for (const place of await client.zrange('dramatis:count:key:app', '0', '-1'))
      await client.zadd('dramatis:count:key:app', '1', place);
    expect((await attempt()).filter(isIn)).toHaveLength(100);
  }, 30_000);

  it('count for one limit at the door; a client that returns gets in, and one that left makes room', async () => {
    const shared = { redisUrl: redis.url, nodeUrl: 'http://127.0.0.1:1', clusterKey: 'the key that all nodes share' };
    const flags = { ...shared, store: true, apiKeys: 'other:server-key', maxSessionsPerKey: '1' };
    const [first, second] = [await serve({ flags }), await serve({ flags })];
    const headers = { authorization: 'Bearer server-key' };
    const talk = first.call('?model=alice&x=resume', headers);
    const { session } = await talk.until('session.created');
    expect(await second.call('', headers).refused).toMatchObject({ status: 429, code: 'too_many_sessions' });
    talk.socket.terminate();
    await until(async () => (await client.zcard('dramatis:count:key:other')) === 0);
    const back = first.call(`?x=resume&after=1&resume=${session.x_dramatis.resume.token}`, headers);
    await back.until('x_dramatis.resumed');
    await until(async () => (await client.zcard('dramatis:count:key:other')) === 1);
    back.socket.close(1000);
    await until(async () => (await client.zcard('dramatis:count:key:other')) === 0);
    await second.call('', headers).until('session.created');
  }, 30_000);
});

describe.skipIf(!hasRedis)('what a client secret has spent on all nodes', () => {
  it('is one total over all nodes, and is kept for a while', async () => {
    const nodes = await Promise.all([openStore(), openStore()]);
    const spend = (at: number, amounts: number[]) => nodes[at]!.counts.spend('secret', amounts, 60_000);
    await Promise.all(Array.from({ length: 50 }, (_, at) => spend(at % 2, [1, 8, 300, 0.25])));
    expect(await spend(0, [-1, 0, 0.5, 0.000_000_1])).toEqual([49, 400, 15_000.5, 12.500_000_1]);
    expect(await client.pttl('dramatis:spent:secret')).toBeGreaterThan(50_000);
  });
});
