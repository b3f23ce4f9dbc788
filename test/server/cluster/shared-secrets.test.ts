import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Redis } from 'ioredis';
import { hasRedis, startRedis } from '../../rigs/cluster-rig.ts';
import { freePort } from '../../rigs/kill-rig.ts';
import { serve } from '../../rigs/serve-rig.ts';

if (!hasRedis) console.warn('skipped: the tests of shared client secrets need redis-server');

const key = 'server-key';
let redis: Awaited<ReturnType<typeof startRedis>>;
beforeAll(async () => {
  if (hasRedis) redis = await startRedis(await freePort());
});
afterAll(() => redis?.kill());

/** One of several servers in this process on one Redis. */
function node() {
  const shared = { redisUrl: redis.url, nodeUrl: 'http://127.0.0.1:1', clusterKey: 'the key that all nodes share' };
  return serve({ flags: { ...shared, store: true, apiKeys: `app:${key}` } });
}

const body = { session: { type: 'realtime', model: 'alice', instructions: 'It rains.' } };
const issuing = (server: Awaited<ReturnType<typeof node>>) => server.ask('/v1/realtime/client_secrets', { key, body });

describe.skipIf(!hasRedis)('a client secret', () => {
  it('that one node has made opens a session at another one at once, with its terms', async () => {
    const [first, second] = [await node(), await node()];
    const { value } = (await issuing(first)).body;
    const talk = second.call('', { authorization: `Bearer ${value}` });
    const { session } = await talk.until('session.created');
    expect(session).toMatchObject({ model: 'alice', instructions: 'It rains.' });
    expect(second.secrets.find(value)).toMatchObject({ owner: 'app', startWith: body.session });
    const client = new Redis(redis.url);
    const kept = await client.keys('dramatis:secret:*');
    expect(kept.length).toBe(1);
    expect(kept.join()).not.toContain(value);
    expect(await client.pttl(kept[0] ?? '')).toBeLessThanOrEqual(600_000);
    await client.flushall();
    client.disconnect();
  });

  it('that has expired everywhere, or was never made, opens nothing', async () => {
    const [first, second] = [await node(), await node()];
    const { value } = (await issuing(first)).body;
    const client = new Redis(redis.url);
    await client.flushall();
    client.disconnect();
    for (const secret of [value, `ek_${'x'.repeat(43)}`]) {
      const refused = await second.call('', { authorization: `Bearer ${secret}` }).refused;
      expect(refused).toMatchObject({ status: 401, code: 'client_secret_expired' });
    }
  });

  it('is refused while the store does not answer, and none is made; server keys work', async () => {
    const [first, second] = [await node(), await node()];
    const { value } = (await issuing(first)).body;
    redis.signal('SIGSTOP');
    try {
      const refused = await second.call('', { authorization: `Bearer ${value}` }).refused;
      expect(refused).toMatchObject({ status: 503, code: 'store_unavailable' });
      expect(await issuing(second)).toMatchObject({ status: 503, body: { error: { code: 'store_unavailable' } } });
      expect(second.secrets.size).toBe(0);
      await second.call('?model=alice', { authorization: `Bearer ${key}` }).until('session.created');
    } finally {
      redis.signal('SIGCONT');
    }
  });
});
