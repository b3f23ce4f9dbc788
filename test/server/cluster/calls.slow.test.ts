import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasRedis, startCluster, until } from '../../rigs/cluster-rig.ts';
import { silence, tone } from '../../fakes/vad.ts';
import { dialPhone } from '../../rigs/phone-rig.ts';
import { dial, loudness, type NodeCaller } from '../../rigs/webrtc-rig.ts';

if (!hasRedis)
  console.warn('skipped: the tests of calls on several nodes need redis-server (Debian package redis-server)');

type Cluster = Awaited<ReturnType<typeof startCluster>>;
type Node = Awaited<ReturnType<Cluster['addNode']>>;

let cluster: Cluster;
let first: Node;
let second: Node;
beforeAll(async () => {
  if (!hasRedis) return;
  cluster = await startCluster({
    TEST_PATIENCE_MS: '1000,1500',
    TEST_SINGS: 'true',
    DRAMATIS_TWILIO: 'true',
    DRAMATIS_PLAYOUT_AHEAD_MS: '400',
  });
  [first, second] = await Promise.all([cluster.addNode(), cluster.addNode()]);
}, 60_000);
afterAll(() => cluster?.[Symbol.asyncDispose]());

interface Said {
  readonly item: { readonly role?: string; readonly content?: readonly { readonly transcript?: string }[] };
}

/** A call at a node that can be resumed. */
async function callAt(node: { url: string }) {
  const { caller, location } = await dial(node, { query: '?x=resume' });
  const { session } = await caller.until('session.created');
  return { caller, location, token: session.x_dramatis.resume.token as string };
}

async function callAgain(node: { url: string }, token: string, caller: NodeCaller) {
  const after = caller.events.findLast(({ x_seq: number }) => number !== undefined)?.['x_seq'] as number;
  return dial(node, { query: `?x=resume&after=${after}`, headers: { 'x-dramatis-resume': token } });
}

function say(caller: NodeCaller, text: string): void {
  const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
  caller.send({ type: 'conversation.item.create', item });
  caller.send({ type: 'response.create' });
}

/** The next answer, as a whole, once it has been played. */
async function answerTo(caller: NodeCaller, text: string): Promise<string> {
  say(caller, text);
  const { response } = await caller.until('response.done');
  await caller.until('output_audio_buffer.stopped');
  return response.output[0].content[0].transcript as string;
}

function answer(text: string, others: number): string {
  return `So you told me ${text} after ${others} others and that is it.`;
}

/** Milliseconds of sound, without silence. */
async function soundMs(caller: NodeCaller): Promise<number> {
  const sound = await caller.heard();
  let ms = 0;
  for (let at = 0; at + 480 <= sound.length; at += 480) if (loudness(sound.subarray(at, at + 480)) > 0.02) ms += 20;
  return ms;
}

function ask(phone: Awaited<ReturnType<typeof dialPhone>>): void {
  for (const sound of [silence(400, 8_000), tone(600, 8_000), silence(1_500, 8_000)]) phone.speak(sound);
}

const long = Array.from({ length: 30 }, () => 'two').join(' ');

describe.skipIf(!hasRedis)('calls on several nodes', () => {
  it('are hung up through any node that the request reaches', async () => {
    const { caller, location } = await callAt(first);
    expect((await fetch(`${second.url}${location}x/hangup`, { method: 'POST' })).status).toBe(404);
    const gone = location.replace(/rtc_[0-9a-f]{32}/, `rtc_${'0'.repeat(32)}`);
    expect((await fetch(`${second.url}${gone}/hangup`, { method: 'POST' })).status).toBe(404);
    expect((await fetch(`${second.url}${location}/hangup`, { method: 'POST' })).status).toBe(200);
    expect(await caller.until('x_dramatis.call_ended')).toMatchObject({ reason: 'ended' });
    await caller.untilClosed();
    await until(async () => (await first.metric('dramatis_sessions')) === 0);
  }, 60_000);

  it('continue at their node if the network of the client has changed, through any node', async () => {
    const { caller, token } = await callAt(first);
    expect(await answerTo(caller, 'one')).toBe(answer('one', 0));
    await caller.vanish();
    const again = await callAgain(second, token, caller);
    expect(await again.caller.until('x_dramatis.resumed')).not.toHaveProperty('restarted');
    expect(await answerTo(again.caller, 'two')).toBe(answer('two', 1));
    expect(await second.metric('dramatis_sessions')).toBe(0);
    expect(await first.metric('dramatis_sessions')).toBe(1);
    await again.caller.close();
    await until(async () => (await first.metric('dramatis_sessions')) === 0);
  }, 60_000);

  it('learn that their node stops, and continue at another one, with nothing cut off', async () => {
    const leaving = await cluster.addNode({ DRAMATIS_DRAIN_SECONDS: '20' });
    const { caller, token } = await callAt(leaving);
    say(caller, 'one');
    await caller.until('output_audio_buffer.started');
    const stopped = leaving.stop();
    expect((await caller.until('response.done')).response.status).toBe('completed');
    await caller.until('output_audio_buffer.stopped');
    expect(await caller.until('x_dramatis.call_ended')).toMatchObject({ reason: 'moved' });
    const again = await callAgain(second, token, caller);
    expect(await again.caller.until('x_dramatis.resumed')).not.toHaveProperty('restarted');
    expect(await answerTo(again.caller, 'two')).toBe(answer('two', 1));
    await stopped;
    await again.caller.close();
  }, 60_000);

  it('say the rest of a reply whose node was killed in its middle', async () => {
    const victim = await cluster.addNode();
    const whole = await callAt(second);
    await answerTo(whole.caller, long);
    const wholeMs = await soundMs(whole.caller);
    await whole.caller.close();

    const { caller, token } = await callAt(victim);
    say(caller, long);
    await caller.until('output_audio_buffer.started');
    await caller.speak(silence(200));
    await caller.untilHeard(2_000);
    await victim.kill();
    const heardMs = await soundMs(caller);
    const again = await callAgain(second, token, caller);
    expect(await again.caller.until('x_dramatis.resumed')).toMatchObject({ restarted: true });
    await again.caller.until('output_audio_buffer.stopped');
    const restMs = await soundMs(again.caller);
    expect(heardMs + restMs).toBeGreaterThan(wholeMs - 200);
    // At most the half second since the last report comes again, and what a busy machine delays.
    expect(heardMs + restMs).toBeLessThan(wholeMs + 1_500);
    const said = again.caller.events.filter(({ type }) => type === 'conversation.item.added') as unknown as Said[];
    expect(said.at(-1)?.item.role).toBe('assistant');
    expect(await answerTo(again.caller, 'three')).toBe(answer('three', 1));
    await again.caller.close();
  }, 60_000);

  it('refuse a token that no node knows, and one of a session that has ended', async () => {
    const { caller, token } = await callAt(first);
    await caller.close();
    await until(async () => (await first.metric('dramatis_sessions')) === 0);
    for (const one of [token, 'rt_unknown']) {
      const headers = { 'content-type': 'application/sdp', 'x-dramatis-resume': one };
      const response = await fetch(`${second.url}/v1/realtime/calls`, { method: 'POST', headers, body: 'v=0' });
      expect(response.status).toBe(404);
    }
  }, 60_000);

  it('continue over the phone at another node, after a kill and when a node stops', async () => {
    const [victim, leaving] = await Promise.all([cluster.addNode(), cluster.addNode({ DRAMATIS_DRAIN_SECONDS: '20' })]);
    const parameters = { character: 'alice', resume: 'a-secret-of-the-application' };
    const phone = await dialPhone(`127.0.0.1:${victim.port}`);
    phone.start(parameters);
    await phone.listen(500);
    await victim.kill();
    const again = await dialPhone(`127.0.0.1:${leaving.port}`);
    again.start(parameters);
    await until(async () => (await leaving.metric('dramatis_sessions')) === 1);
    expect(await leaving.metric('dramatis_resumes_total{how="claimed"}')).toBe(1);
    ask(again);
    await again.listen(300);
    const stopped = leaving.stop();
    // Twilio goes on with the next verb of the TwiML.
    expect(await again.hungUp()).toMatchObject({ code: 4002 });
    const next = await dialPhone(`127.0.0.1:${second.port}`);
    next.start(parameters);
    await until(async () => (await second.metric('dramatis_sessions')) === 1);
    expect(await second.metric('dramatis_resumes_total{how="claimed"}')).toBeGreaterThan(0);
    next.send({ event: 'stop', streamSid: 'MZ1', stop: {} });
    await until(async () => (await second.metric('dramatis_sessions')) === 0);
    await stopped;
  }, 60_000);
});
