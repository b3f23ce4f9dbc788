import { once } from 'node:events';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { hashOf } from '../../../server/connections/resumable-sessions.ts';
import { hasRedis, startCluster, until } from '../../rigs/cluster-rig.ts';
import { startReplicatedRedis } from '../../rigs/cluster/replicated-redis.ts';
import { allFaults, faultsBeyondKills, noFaults, startTalker, type Talker } from '../../rigs/cluster/talkers.ts';

if (!hasRedis) console.warn('skipped: the tests of faults under load need redis-server (Debian package redis-server)');

const talks = 12;
/** Replies are sent as they play, a little ahead; on a busy machine a living node may be silent for a while. */
const environment = { DRAMATIS_PLAYOUT_AHEAD_MS: '400', TEST_PATIENCE_MS: '1000,1500', TEST_NOTICE_MS: '300' };

type Cluster = Awaited<ReturnType<typeof startCluster>>;
type Node = Awaited<ReturnType<Cluster['addNode']>>;

function startTalkers(url: string): Talker[] {
  return Array.from({ length: talks }, () => startTalker({ url, speaks: true }));
}

/** Waits until every client has had some replies more. */
async function talkOn(talkers: readonly Talker[], turns = 2): Promise<void> {
  const goals = talkers.map((talker) => talker.turns + turns);
  await until(() => talkers.every((talker, at) => talker.turns >= (goals[at] ?? 0)));
}

async function endAll(talkers: readonly Talker[]): Promise<void> {
  await Promise.all(talkers.map((talker) => talker.stop()));
}

/** A client without our library, that never closes a socket by itself. */
async function openSocket(node: Node, query: string) {
  const socket = new WebSocket(`${node.url.replace('http', 'ws')}/v1/realtime?${query}`);
  const events: Record<string, unknown>[] = [];
  socket.on('message', (data: Buffer) => void events.push(JSON.parse(data.toString()) as Record<string, unknown>));
  await once(socket, 'open');
  return {
    socket,
    events,
    send: (event: object) => socket.send(JSON.stringify(event)),
    of: (type: string) => events.filter((event) => event['type'] === type),
  };
}

describe.skipIf(!hasRedis)('a node that slept for longer than its lease', () => {
  it('writes nothing after the takeover, sends its client nothing, and hangs up', async () => {
    await using cluster = await startCluster({ ...environment, DRAMATIS_PLAYOUT_AHEAD_MS: '100' });
    const [first, second] = await Promise.all([cluster.addNode(), cluster.addNode()]);
    const old = await openSocket(first, 'model=alice&x=resume');
    await until(() => old.of('session.created').length === 1);
    const [created] = old.of('session.created') as [{ session: { x_dramatis: { resume: { token: string } } } }];
    const { token } = created.session.x_dramatis.resume;
    const key = `dramatis:{${hashOf(token)}}`;
    // Long enough to be in the middle of its reply when it sleeps, and when it wakes.
    const text = Array.from({ length: 200 }, () => 'word').join(' ');
    const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
    old.send({ type: 'conversation.item.create', x_seq: 1, item });
    old.send({ type: 'response.create', x_seq: 2 });
    await until(() => old.of('response.output_audio.delta').length > 3);
    first.signal('SIGSTOP');
    const lastSeq = Math.max(...old.events.map((event) => Number(event['x_seq'] ?? 0)));
    const next = await openSocket(second, `resume=${token}&after=${lastSeq}&x=resume`);
    await until(() => next.of('x_dramatis.resumed').length === 1);
    // The lease of the first one ends meanwhile.
    await until(async () => (await cluster.client.keys('dramatis:node:*')).length === 1);
    next.send({ type: 'response.cancel', x_seq: 3 });
    await until(() => next.of('response.done').length > 0);
    const state = async () => [
      await cluster.client.hgetall(`${key}:owner`),
      await cluster.client.lrange(`${key}:lines`, 0, -1),
    ];
    await until(async () => (await second.metric('dramatis_sessions_unkept')) === 0);
    const before = await state();
    const received = old.events.length;
    const closed = once(old.socket, 'close');
    first.signal('SIGCONT');
    expect((await closed)[0]).toBe(4001);
    expect(await first.metric('dramatis_fenced_total')).toBe(1);
    expect(await first.metric('dramatis_sessions')).toBe(0);
    expect(await state()).toEqual(before);
    expect(old.events.slice(received).map(({ type }) => type)).toEqual([]);
    next.socket.close(1000);
  }, 120_000);
});

describe.skipIf(!hasRedis)('talks without a pause', () => {
  let cluster: Cluster;
  let nodes: Node[];
  let talkers: Talker[] = [];
  beforeAll(async () => {
    if (!hasRedis) return;
    cluster = await startCluster(environment);
    nodes = await Promise.all([cluster.addNode(), cluster.addNode(), cluster.addNode()]);
    cluster.balancer.sendTo(...nodes);
    talkers = startTalkers(cluster.balancer.url);
    await talkOn(talkers);
  }, 60_000);
  afterAll(async () => {
    await endAll(talkers);
    await cluster?.[Symbol.asyncDispose]();
  });

  it('notice nothing while Redis is away, and are kept again afterwards', async () => {
    cluster.redis.signal('SIGSTOP');
    await talkOn(talkers, 4);
    const unkept = await Promise.all(nodes.map((node) => node.metric('dramatis_sessions_unkept')));
    expect(unkept.reduce((sum, count) => sum + count, 0)).toBe(talks);
    cluster.redis.signal('SIGCONT');
    for (const node of nodes) await until(async () => (await node.metric('dramatis_sessions_unkept')) === 0);
    await talkOn(talkers);
    expect(allFaults(talkers)).toEqual(noFaults());
    expect(talkers.flatMap(({ backMs }) => backMs)).toEqual([]);
  }, 120_000);

  it('notice nothing but a new connection when one node after the other is restarted', async () => {
    for (const [at, node] of [...nodes].entries()) {
      const others = nodes.filter((other) => other !== node);
      cluster.balancer.sendTo(...others);
      await node.stop();
      nodes[at] = await cluster.addNode({}, { port: node.port });
      cluster.balancer.sendTo(...nodes);
    }
    await talkOn(talkers);
    expect(allFaults(talkers)).toEqual(noFaults());
    expect(talkers.flatMap(({ backMs }) => backMs).length).toBeGreaterThanOrEqual(talks);
  }, 240_000);
});

describe.skipIf(!hasRedis)('talks on a Redis that fails over to a replica', () => {
  it('lose nothing although it has forgotten their last turns, and a node is killed afterwards', async () => {
    await using redis = await startReplicatedRedis();
    await using cluster = await startCluster({ ...environment, DRAMATIS_REDIS_URL: redis.url });
    const nodes = await Promise.all([cluster.addNode(), cluster.addNode(), cluster.addNode()]);
    cluster.balancer.sendTo(...nodes);
    const talkers = startTalkers(cluster.balancer.url);
    await talkOn(talkers);
    const turnsIn = async (client: Redis): Promise<number[]> =>
      Promise.all(
        talkers.map(async ({ resumeToken }) =>
          Number(await client.hget(`dramatis:{${hashOf(resumeToken)}}:owner`, 'position')),
        ),
      );
    let forgotten: number[] = [];
    await redis.failOver(async () => {
      await talkOn(talkers);
      const main = new Redis(redis.url);
      const [kept, there] = [await turnsIn(redis.client), await turnsIn(main)];
      main.disconnect();
      forgotten = there.map((position, at) => position - (kept[at] ?? 0));
    });
    expect(Math.min(...forgotten)).toBeGreaterThan(0);
    const [victim, ...others] = nodes;
    cluster.balancer.sendTo(...others);
    // The nodes write again what it does not have. The victim comes last: a node that dies while Redis is slow to answer
    // may say again what its client had.
    for (const node of [...others, victim]) {
      await until(async () => (await node.metric('dramatis_sessions_unkept')) === 0);
    }
    await victim.kill();
    await talkOn(talkers);
    expect(faultsBeyondKills(talkers)).toEqual(noFaults());
    expect(allFaults(talkers).restarts).toBeGreaterThan(0);
    await endAll(talkers);
  }, 240_000);
});
