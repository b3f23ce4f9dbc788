import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Redis } from 'ioredis';
import { journalVersion } from '../../../server/journal/lines.ts';
import { hashOf } from '../../../server/connections/resumable-sessions.ts';
import { hasRedis, startRedis } from '../../rigs/cluster-rig.ts';
import { freePort } from '../../rigs/kill-rig.ts';
import { serve } from '../../rigs/serve-rig.ts';

if (!hasRedis) console.warn('skipped: the tests of journals of newer nodes need redis-server');

let redis: Awaited<ReturnType<typeof startRedis>>;
let client: Redis;
beforeAll(async () => {
  if (!hasRedis) return;
  redis = await startRedis(await freePort());
  client = new Redis(redis.url);
});
afterAll(async () => {
  client?.disconnect();
  await redis?.kill();
});

function node() {
  const shared = { redisUrl: redis.url, nodeUrl: 'http://127.0.0.1:1', clusterKey: 'the key that all nodes share' };
  return serve({ flags: { ...shared, store: true } });
}

const open = { type: 'open', version: journalVersion, id: 'sess_1', character: 'alice', model: 'alice' };

/** Writes a session that another node has left; returns what its client asks for, and the key of its lines. */
async function leftSession(token: string, ...lines: readonly object[]) {
  const key = `dramatis:{${hashOf(token)}}`;
  await client.hset(`${key}:owner`, { epoch: 1, node: '', position: lines.length });
  await client.rpush(`${key}:lines`, ...lines.map((line) => JSON.stringify(line)));
  return { query: `?resume=${token}&after=1&x=resume`, linesKey: `${key}:lines` };
}

describe.skipIf(!hasRedis)('a session that a newer node has left', () => {
  const lines = { version: [{ ...open, version: journalVersion + 1 }], line: [open, { type: 'something-new' }] };

  it.for(['version', 'line'] as const)('waits for a node that can read it: an older %s answers 1013', async (what) => {
    const { query, linesKey } = await leftSession(`rt_${what}`, ...lines[what]);
    const older = (await node()).call(query);
    expect((await older.until('error'))['error']).toMatchObject({ code: 'server_busy' });
    expect(await older.closed).toEqual({ code: 1013, reason: 'server_busy' });
    expect(await client.lrange(linesKey, 0, -1)).toEqual(lines[what].map((line) => JSON.stringify(line)));
    // For a node that can read it, it is free.
    await client.lset(linesKey, -1, JSON.stringify(what === 'line' ? { type: 'sequence', upTo: 1 } : open));
    await (await node()).call(query).until('x_dramatis.resumed');
  });

  it('is lost if a line is damaged, which no node can read', async () => {
    const { query } = await leftSession('rt_damaged', open, { type: 'sequence' });
    const refused = (await node()).call(query);
    expect((await refused.until('error'))['error']).toMatchObject({ code: 'session_not_resumable' });
    expect(await refused.closed).toMatchObject({ code: 1008 });
  });
});
