import { once } from 'node:events';
import { WebSocket } from 'ws';
import { describe, expect, it, vi } from 'vitest';
import { orderViolations } from '../conformance/realtime-order.ts';
import { openFlakyProxy } from '../fakes/network/flaky-proxy.ts';
import { openRig, recordTalk } from '../rigs/talk-rig.ts';

/** A bare socket that resumes a session; resolves to the first event and the close code. */
async function resumeBare(url: string, query: string) {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/realtime?${query}`);
  const closed = once(socket, 'close').then(([code]) => code as number);
  const [data] = (await once(socket, 'message')) as [Buffer];
  return { socket, closed, event: JSON.parse(data.toString()) as { type: string; error?: { code: string } } };
}

describe('resuming a session', () => {
  it('refuses to resume with a wrong token and closes with a policy violation', async () => {
    await using rig = await openRig();
    const { event, closed } = await resumeBare(rig.url, 'resume=rt_guessed&after=0');
    expect(event).toMatchObject({ type: 'error', error: { code: 'session_not_resumable' } });
    expect(await closed).toBe(1008);
  });

  for (const after of ['', '&after=x', '&after=-1', '&after=1.5', '&after=9999']) {
    it(`refuses to resume without a usable number of the last frame ("${after}") and keeps the session for its client`, async () => {
      await using rig = await openRig();
      const recorded = recordTalk({ url: rig.url });
      const session = await recorded.talk.opened;
      const token = session.x_dramatis?.resume?.token;
      const { event, closed } = await resumeBare(rig.url, `resume=${token}${after}`);
      expect(event).toMatchObject({ type: 'error', error: { code: 'session_not_resumable' } });
      expect(await closed).toBe(1008);
      recorded.talk.say('Are you there?');
      expect((await recorded.until('response.done')).response.status).toBe('completed');
      recorded.talk.close();
    });
  }

  it('starts a new session and reports the lost audio if the grace period is over', async () => {
    await using rig = await openRig({ flags: { resumeGraceSeconds: '0' } });
    await using proxy = await openFlakyProxy(rig.port);
    const recorded = recordTalk({ url: proxy.url });
    const first = await recorded.talk.opened;
    recorded.talk.say('Good evening.');
    await recorded.until('response.done');
    const before = recorded.fromServer().length;
    proxy.hold();
    proxy.cut();
    await expect.poll(() => rig.sessions.active).toBe(0);
    recorded.speak(400);
    proxy.admit();
    const again = await recorded.until('connection.open', 2);
    expect(again.isNew).toBe(true);
    expect(again.session.id).not.toBe(first.id);
    // Audio sent to the old session is reported as lost and not sent to the new one.
    expect(again.lostMs).toBe(1_400);
    expect(recorded.of('error')).toEqual([]);
    recorded.speak(600);
    const { response } = await recorded.until('response.done', 2);
    expect(response.status).toBe('completed');
    const anew = recorded.fromServer().slice(before);
    expect(anew.map((event) => event['x_seq'])).toEqual(anew.map((_, index) => index + 1));
    expect(orderViolations(anew)).toEqual([]);
    expect(rig.engines.recognizer).toHaveProperty('heardMs.length', 1);
    recorded.talk.close();
  });
});

describe('replacing the socket of a session', () => {
  it('ignores the old socket after the client reconnected, even if its end comes late', async () => {
    await using rig = await openRig();
    await using proxy = await openFlakyProxy(rig.port);
    const recorded = recordTalk({ url: proxy.url });
    await recorded.talk.opened;
    // Half open: nothing gets through, and neither side notices.
    proxy.freeze();
    recorded.talk.say('Can you hear me?');
    recorded.talk.reconnect();
    expect(await recorded.until('connection.open', 2)).toMatchObject({ isNew: false, lostMs: 0 });
    await recorded.until('response.done');
    // Now the old socket learns that it was replaced, and the server gets what was sent over it.
    proxy.thaw();
    recorded.talk.say('And now?');
    await recorded.until('response.done', 2);
    expect(recorded.of('connection.replaced')).toEqual([]);
    expect(proxy.taken).toBe(2);
    const events = recorded.fromServer();
    expect(events.map((event) => event['x_seq'])).toEqual(events.map((_, index) => index + 1));
    expect(recorded.of('conversation.item.added').filter(({ item }) => item.role === 'user')).toHaveLength(2);
    recorded.talk.close();
  });

  it('ends the conversation without reconnecting if another client resumes its session', async () => {
    await using rig = await openRig();
    await using proxy = await openFlakyProxy(rig.port);
    const recorded = recordTalk({ url: proxy.url });
    const session = await recorded.talk.opened;
    const other = await resumeBare(rig.url, `resume=${session.x_dramatis?.resume?.token}&after=1`);
    expect(other.event.type).toBe('x_dramatis.resumed');
    await recorded.until('connection.replaced');
    expect(recorded.talk.send({ type: 'response.create' })).toBe(false);
    other.socket.send(JSON.stringify({ type: 'response.create' }));
    await once(other.socket, 'message');
    expect(proxy.taken).toBe(1);
    other.socket.close(1000);
    await other.closed;
  });
});

describe('closing', () => {
  it('frees its session slot at once when a resumable conversation is closed', async () => {
    await using rig = await openRig();
    const recorded = recordTalk({ url: rig.url });
    await recorded.talk.opened;
    recorded.talk.close();
    await recorded.until('connection.closed');
    await expect.poll(() => rig.sessions.active).toBe(0);
  });
});

describe('API key', () => {
  it('does not retry a connection that was refused for a missing API key', async () => {
    await using rig = await openRig({ flags: { apiKeys: 'hush' } });
    await using proxy = await openFlakyProxy(rig.port);
    const recorded = recordTalk({ url: proxy.url });
    await expect(recorded.talk.opened).rejects.toMatchObject({ code: 'connection_refused' });
    const open = recordTalk({ url: proxy.url, apiKey: 'hush' });
    await open.talk.opened;
    // One socket and a health request, then one socket.
    expect(proxy.taken).toBe(3);
    open.talk.close();
  });
});

describe('a reload of the page', () => {
  it('continues the session of the earlier page, without the reply that was in progress there', async () => {
    await using rig = await openRig({ says: ['One two three.', 'Four five six.', 'Seven eight.'] });
    await using proxy = await openFlakyProxy(rig.port);
    const before = recordTalk({ url: proxy.url });
    const { id } = await before.talk.opened;
    before.talk.say('Good evening.');
    await before.until('response.done');
    before.talk.say('And then?');
    await before.until('response.created', 2);
    const resumption = before.talk.resumption;
    proxy.hold();
    proxy.cut();
    const after = recordTalk({ url: rig.url, resumption });
    expect((await after.talk.opened).id).toBe(id);
    expect(after.of('connection.open')).toMatchObject([{ isNew: false, isRestarted: false, lostMs: 0 }]);
    await vi.waitUntil(() => after.talk.say('Are you there?'));
    const { response } = await after.until('response.done');
    expect(response.status).toBe('completed');
    expect(after.of('error')).toEqual([]);
    const begun = after.of('response.created').map(({ response: each }) => each.id);
    expect(begun).not.toContain(before.of('response.created')[1]?.response.id);
    expect(new Set(after.of('response.output_audio.delta').map((sound) => sound.response_id))).toEqual(new Set(begun));
    after.talk.close();
    before.talk.close();
  });

  it('opens a new session if that of the earlier page is gone', async () => {
    await using rig = await openRig();
    const before = recordTalk({ url: rig.url });
    const { id } = await before.talk.opened;
    const resumption = before.talk.resumption;
    before.talk.close();
    await expect.poll(() => rig.sessions.active).toBe(0);
    const after = recordTalk({ url: rig.url, resumption });
    expect((await after.talk.opened).id).not.toBe(id);
    expect(after.of('connection.open')).toMatchObject([{ isNew: true }]);
    after.talk.say('Are you there?');
    expect((await after.until('response.done')).response.status).toBe('completed');
    after.talk.close();
  });
});
