import { afterEach, describe, expect, it, vi } from 'vitest';
import { silence } from '../../../fakes/vad.ts';
import { serve } from '../../../rigs/serve-rig.ts';
import { dial, loudness, NodeCaller, offerTo, refusalOf, singing } from '../../../rigs/webrtc-rig.ts';

afterEach(() => void vi.useRealTimers());

/** Words of a second or so each with the singing voice. */
const long = Array.from({ length: 60 }, (_, at) => `word${at}`).join(' ');

async function talkTo(server: Awaited<ReturnType<typeof serve>>, headers: Record<string, string> = {}) {
  const { caller, location } = await dial(server, { query: '?x=resume', headers });
  const { session } = await caller.until('session.created');
  const { token } = session.x_dramatis.resume as { token: string };
  return { caller, location, token, id: session.id as string };
}

/** Resumes with a new call, as a browser does whose network has changed. */
async function dialAgain(server: { url: string }, token: string, query = '', headers: Record<string, string> = {}) {
  return dial(server, { query: `?x=resume${query}`, headers: { ...headers, 'x-dramatis-resume': token } });
}

/** Milliseconds of sound, without silence. */
async function soundMs(caller: NodeCaller): Promise<number> {
  const sound = await caller.heard();
  let ms = 0;
  for (let at = 0; at + 480 <= sound.length; at += 480) if (loudness(sound.subarray(at, at + 480)) > 0.02) ms += 20;
  return ms;
}

describe('resumed call', () => {
  it('continues the session, and says the rest of the reply that was interrupted by the network', async () => {
    const server = await serve({ engines: singing({ says: [long] }) });
    const whole = await talkTo(server);
    whole.caller.send({ type: 'response.create' });
    await whole.caller.until('output_audio_buffer.stopped');
    const wholeMs = await soundMs(whole.caller);

    const { caller, token, id } = await talkTo(server);
    caller.send({ type: 'response.create' });
    await caller.until('output_audio_buffer.started');
    await caller.untilHeard(400);
    // The last that the server hears of the client.
    await caller.speak(silence(200));
    const last = caller.events.at(-1)?.['x_seq'] as number;
    await caller.vanish();
    const heardMs = await soundMs(caller);
    const again = await dialAgain(server, token, `&after=${last}`);
    const resumed = await again.caller.until('x_dramatis.resumed');
    expect(resumed).not.toHaveProperty('restarted');
    await again.caller.until('output_audio_buffer.stopped');
    const restMs = await soundMs(again.caller);
    expect(server.sessions.active).toBe(2);
    // Nothing is lost; what was on its way when the network broke may come twice.
    expect(heardMs + restMs).toBeGreaterThan(wholeMs - 100);
    expect(heardMs + restMs).toBeLessThan(wholeMs + 1_000);
    const numbers = again.caller.events.flatMap(({ x_seq: number }) => (typeof number === 'number' ? [number] : []));
    expect(numbers[0]).toBe(last + 1);
    expect(server.log.filter((line) => line.includes(id) && line.includes('session closed'))).toEqual([]);
  }, 30_000);

  it('waits for its client when the connection is lost, for the grace period', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const server = await serve({ engines: singing(), flags: { resumeGraceSeconds: '20' } });
    const { caller, token } = await talkTo(server);
    await caller.vanish();
    await vi.advanceTimersByTimeAsync(30_000);
    await vi.waitFor(() => expect(server.log.join('')).toContain('call ended'));
    expect(server.sessions.active).toBe(1);
    await vi.advanceTimersByTimeAsync(20_000);
    await vi.waitFor(() => expect(server.sessions.active).toBe(0));
    expect(await refusalOf(await offerTo(server, 'v=0', { headers: { 'x-dramatis-resume': token } }))).toEqual([
      404,
      'session_not_resumable',
    ]);
  });

  it('ends the session if the client hangs up, or another client hangs up for it', async () => {
    const server = await serve({ engines: singing() });
    const one = await talkTo(server);
    await one.caller.close();
    await vi.waitFor(() => expect(server.sessions.active).toBe(0));
    const two = await talkTo(server);
    const again = await dialAgain(server, two.token);
    // The first call of the talk names it as well.
    expect((await fetch(`${server.url}${two.location}/hangup`, { method: 'POST' })).status).toBe(200);
    expect(await again.caller.until('x_dramatis.call_ended')).toMatchObject({ reason: 'ended' });
    await again.caller.untilClosed();
    expect(server.sessions.active).toBe(0);
  });

  it('belongs to its key, needs none beside its token, and is no WebSocket', async () => {
    const keys = ['one:a-key-of-sixteen-characters', 'two:another-key-of-sixteen-chars'];
    const [one, two] = keys.map((key) => ({ authorization: `Bearer ${key.slice(4)}` })) as [object, object];
    const server = await serve({ engines: singing(), flags: { apiKeys: keys.join(',') } });
    const { caller, token } = await talkTo(server, one as Record<string, string>);
    const offer = await new NodeCaller().offer();
    const asking = (headers: object) => offerTo(server, offer, { headers: { ...headers, 'x-dramatis-resume': token } });
    expect(await refusalOf(await asking(two))).toEqual([403, 'resume_not_allowed']);
    const wrong = await offerTo(server, offer, { headers: { ...one, 'x-dramatis-resume': `${token}x` } });
    expect(await refusalOf(wrong)).toEqual([404, 'session_not_resumable']);
    const unknown = await offerTo(server, offer, { headers: { 'x-dramatis-resume': `${token}x` } });
    expect(unknown.status).toBe(401);
    const socket = server.call('', { 'x-dramatis-resume': token });
    expect((await socket.until('error'))['error']).toMatchObject({ code: 'session_not_resumable' });
    const again = await dialAgain(server, token);
    await again.caller.until('x_dramatis.resumed');
    await caller.untilClosed();
    expect(server.sessions.active).toBe(1);
    const overSocket = server.call('?x=resume', one as Record<string, string>);
    const { session } = await overSocket.until('session.created');
    const token2 = session.x_dramatis.resume.token as string;
    expect(await refusalOf(await offerTo(server, offer, { headers: { 'x-dramatis-resume': token2 } }))).toEqual([
      404,
      'session_not_resumable',
    ]);
    overSocket.socket.close();
  });

  it('is not offered to a client that does not ask for it', async () => {
    const server = await serve({ engines: singing() });
    const { caller } = await dial(server);
    expect((await caller.until('session.created')).session.x_dramatis).not.toHaveProperty('resume');
  });
});
