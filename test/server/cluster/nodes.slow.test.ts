import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hashOf } from '../../../server/connections/resumable-sessions.ts';
import { hasRedis, startCluster, until } from '../../rigs/cluster-rig.ts';
import { recordTalk } from '../../rigs/talk-rig.ts';

if (!hasRedis) console.warn('skipped: the tests of several nodes need redis-server (Debian package redis-server)');

type Cluster = Awaited<ReturnType<typeof startCluster>>;
type Node = Awaited<ReturnType<Cluster['addNode']>>;

let cluster: Cluster;
let nodes: Node[] = [];
beforeAll(async () => {
  if (!hasRedis) return;
  // On a busy machine a living node may be silent for a while.
  cluster = await startCluster({ TEST_PATIENCE_MS: '1000,1500' });
  // The third one sends its replies in real time.
  const own = [{}, {}, { DRAMATIS_PLAYOUT_AHEAD_MS: '100' }, {}];
  nodes = await Promise.all(own.map((environment) => cluster.addNode(environment)));
}, 60_000);
afterAll(() => cluster?.[Symbol.asyncDispose]());

/** A conversation through the balancer that begins at a node. */
async function talkAt(node: Node) {
  cluster.balancer.sendTo(node);
  const recorded = recordTalk({ url: cluster.balancer.url });
  await recorded.talk.opened;
  const { talk, of } = recorded;
  const token = (talk as { resumption?: { token: string } }).resumption?.token ?? '';
  return {
    ...recorded,
    ownerKey: `dramatis:{${hashOf(token)}}:owner`,
    linesKey: `dramatis:{${hashOf(token)}}:lines`,
    /** Says a sentence; returns what the character says to it, which tells how many others it has heard. */
    async ask(text: string): Promise<string> {
      const before = of('response.done').length;
      talk.say(text);
      const { response } = await recorded.until('response.done', before + 1);
      const { output } = response as unknown as { output: { content: { transcript: string }[] }[] };
      return output[0]?.content[0]?.transcript ?? '';
    },
    /** Cuts the connection; the next one goes to a node. */
    async returnTo(next: Node) {
      const opened = of('connection.open').length;
      cluster.balancer.sendTo(next);
      cluster.balancer.cut();
      return recorded.until('connection.open', opened + 1);
    },
  };
}

function answer(text: string, others: number): string {
  return `So you told me ${text} after ${others} others and that is it.`;
}

describe.skipIf(!hasRedis)('several nodes on one Redis', () => {
  it('pass a client that returns elsewhere on to the node that has its session', async () => {
    const [first, second] = nodes as [Node, Node];
    const talk = await talkAt(first);
    expect(await talk.ask('one')).toBe(answer('one', 0));
    expect(await talk.returnTo(second)).toMatchObject({ isNew: false, isRestarted: false, lostMs: 0 });
    expect(await talk.ask('two')).toBe(answer('two', 1));
    expect(await second.metric('dramatis_relayed_sockets')).toBe(1);
    expect(await second.metric('dramatis_resumes_total{how="relayed"}')).toBe(1);
    expect(await second.metric('dramatis_sessions')).toBe(0);
    talk.talk.close();
    await until(async () => (await second.metric('dramatis_relayed_sockets')) === 0);
    await until(async () => (await cluster.client.exists(talk.linesKey)) === 0);
  }, 60_000);

  it('refuse what a node writes that slept through a takeover; it hangs up', async () => {
    const [first, second] = nodes as [Node, Node];
    const talk = await talkAt(first);
    await talk.ask('one');
    const fencedBefore = await first.metric('dramatis_fenced_total');
    first.signal('SIGSTOP');
    expect(await talk.returnTo(second)).toMatchObject({ isNew: false, isRestarted: true, lostMs: 0 });
    expect(await talk.ask('two')).toBe(answer('two', 1));
    const owner = await cluster.client.hmget(talk.ownerKey, 'epoch', 'node');
    first.signal('SIGCONT');
    await until(async () => (await first.metric('dramatis_fenced_total')) === fencedBefore + 1);
    expect(await first.metric('dramatis_sessions')).toBe(0);
    expect(await cluster.client.hmget(talk.ownerKey, 'epoch', 'node')).toEqual(owner);
    expect(await talk.ask('three')).toBe(answer('three', 2));
    talk.talk.close();
  }, 60_000);

  it('let sessions continue while Redis does not answer, and write all events afterwards', async () => {
    const [first, second] = nodes as [Node, Node];
    const talk = await talkAt(first);
    await talk.ask('one');
    cluster.redis.signal('SIGSTOP');
    expect(await talk.ask('two')).toBe(answer('two', 1));
    expect(await first.metric('dramatis_sessions_unkept')).toBe(1);
    expect(await talk.ask('three')).toBe(answer('three', 2));
    cluster.redis.signal('SIGCONT');
    await until(async () => (await first.metric('dramatis_sessions_unkept')) === 0);
    first.signal('SIGSTOP');
    expect(await talk.returnTo(second)).toMatchObject({ isNew: false, lostMs: 0 });
    expect(await talk.ask('four')).toBe(answer('four', 3));
    first.signal('SIGCONT');
    talk.talk.close();
  }, 60_000);

  it('write sessions again that Redis has lost', async () => {
    const [first, second] = nodes as [Node, Node];
    const talk = await talkAt(first);
    await talk.ask('one');
    await cluster.loseRedis();
    await until(async () => (await cluster.client.exists(talk.linesKey)) === 1);
    first.signal('SIGSTOP');
    expect(await talk.returnTo(second)).toMatchObject({ isNew: false, lostMs: 0 });
    expect(await talk.ask('two')).toBe(answer('two', 1));
    first.signal('SIGCONT');
    talk.talk.close();
  }, 60_000);

  it('continue a session of a node that was killed, with the whole conversation', async () => {
    const [victim, second, third] = nodes as [Node, Node, Node];
    const talk = await talkAt(victim);
    await talk.ask('one');
    await talk.ask('two');
    await victim.kill();
    expect(await talk.returnTo(second)).toMatchObject({ isNew: false, isRestarted: true, lostMs: 0 });
    expect(await talk.ask('three')).toBe(answer('three', 2));
    // The next one that it reaches passes it on to the new owner.
    expect(await talk.returnTo(third)).toMatchObject({ isNew: false, isRestarted: false });
    expect(await talk.ask('four')).toBe(answer('four', 3));
    talk.talk.close();
  }, 60_000);

  it('say the rest of a reply whose node was killed in its middle, to the sample', async () => {
    const [, second, victim] = nodes as [Node, Node, Node];
    const talk = await talkAt(victim);
    await talk.ask('one');
    const before = talk.replySound().length;
    const told = talk.of('response.output_audio_transcript.delta').length;
    // Long enough that the node is still sending it when it is killed.
    const text = Array.from({ length: 40 }, () => 'two').join(' ');
    talk.talk.say(text);
    await talk.until('response.output_audio_transcript.delta', told + 3);
    cluster.balancer.sendTo(second);
    await victim.kill();
    const { response: cut } = await talk.until('response.done', 2);
    expect(cut).toMatchObject({ status: 'incomplete', status_details: { reason: 'server_restarted' } });
    await talk.until('response.done', 3);
    const words = answer(text, 1).split(' ').length;
    expect(talk.replySound().length - before).toBe(words * 2_400 * 2);
    expect(talk.of('response.created')).toHaveLength(3);
    expect(await talk.ask('three')).toBe(answer('three', 2));
    talk.talk.close();
  }, 60_000);

  it('take over from a node that stops, without the client noticing', async () => {
    const [, second, , leaving] = nodes as [Node, Node, Node, Node];
    const talk = await talkAt(leaving);
    await talk.ask('one');
    cluster.balancer.sendTo(second);
    const figures = ['dramatis_moves_total', 'dramatis_resume_seconds_count{how="restored"}'] as const;
    const before = await Promise.all(figures.map((name) => second.metric(name)));
    const stopped = leaving.stop();
    expect(await talk.until('connection.open', 2)).toMatchObject({ isNew: false, isRestarted: false, lostMs: 0 });
    expect(talk.of('connection.lost')).toMatchObject([{ attempt: 1, retryInMs: 0 }]);
    expect(await talk.ask('two')).toBe(answer('two', 1));
    expect(await Promise.all(figures.map((name) => second.metric(name)))).toEqual(before.map((count) => count + 1));
    await stopped;
    talk.talk.close();
  }, 60_000);
});
