import * as fc from '../../../fakes/property.ts';
import { describe, expect, it } from 'vitest';
import { silence, tone } from '../../../fakes/vad.ts';
import { serve } from '../../../rigs/serve-rig.ts';
import {
  ask,
  callsPath,
  dial,
  loudness,
  NodeCaller,
  offerTo,
  refusalOf,
  singing,
  type Asking,
} from '../../../rigs/webrtc-rig.ts';

const longLine = Array.from({ length: 60 }, () => 'word').join(' ');

describe('WebRTC call', () => {
  it('answers an offer with Opus, a local address and the session', async () => {
    const server = await serve();
    const { caller, location, answer } = await dial(server, { query: '?model=alice' });
    expect(location).toMatch(/^\/v1\/realtime\/calls\/rtc_[\w-]{22}$/);
    expect(answer).toMatch(/^m=audio \d+ UDP\/TLS\/RTP\/SAVPF 96\r$/m);
    expect(answer).toMatch(/^a=candidate:\S+ 1 udp \d+ 127\.0\.0\.1 \d+ typ host/m);
    const { session } = await caller.until('session.created');
    expect(session).toMatchObject({ type: 'realtime', model: 'alice', audio: { output: { voice: 'alice' } } });
    expect((await server.ask('/healthz')).body.sessions).toMatchObject({ active: 1, opened: 1 });
  });

  it('transcribes and answers aloud and reports when playback starts and stops', async () => {
    const server = await serve({ engines: singing() });
    const { caller } = await dial(server);
    await ask(caller);
    await caller.until('input_audio_buffer.speech_started');
    expect((await caller.until('conversation.item.input_audio_transcription.completed')).transcript).toBe(
      'hello there',
    );
    const { response } = await caller.until('response.created');
    expect(await caller.until('output_audio_buffer.stopped')).toMatchObject({ response_id: response.id });
    const types = caller.events.map(({ type }) => type);
    expect(types.indexOf('output_audio_buffer.started')).toBeGreaterThan(types.indexOf('response.content_part.added'));
    expect(types.indexOf('output_audio_buffer.stopped')).toBeGreaterThan(types.indexOf('response.done'));
    // Audio travels only over the track.
    expect(types).not.toContain('response.output_audio.delta');
    await caller.untilHeard(300);
    expect(loudness(await caller.heard())).toBeGreaterThan(0.2);
    caller.expectOrder();
  });

  it('silences a reply on output_audio_buffer.clear and truncates it to what was heard', async () => {
    const server = await serve({ engines: singing({ says: [longLine] }) });
    const { caller } = await dial(server);
    caller.send({ type: 'response.create' });
    const { response_id: responseId } = await caller.until('output_audio_buffer.started');
    caller.send({ type: 'output_audio_buffer.clear', event_id: 'quiet' });
    expect(await caller.until('output_audio_buffer.cleared')).toMatchObject({ response_id: responseId });
    const { response } = await caller.until('response.done');
    expect(response.status_details).toMatchObject({ type: 'cancelled', reason: 'client_cancelled' });
    expect(response.output[0].content[0].transcript.length).toBeLessThan(longLine.length / 2);
    // Clearing an empty buffer emits nothing.
    caller.send({ type: 'output_audio_buffer.clear' });
    caller.send({ type: 'input_audio_buffer.clear' });
    await caller.until('input_audio_buffer.cleared');
    const told = caller.events.flatMap(({ type }) => /^(?:output_audio_buffer\.(.*)|error)$/.exec(type)?.[1] ?? []);
    expect(told).toEqual(['started', 'cleared']);
    caller.expectOrder();
  });

  it('returns an utterance without its audio if that is too large for a data channel', async () => {
    const server = await serve({ engines: singing() });
    const { caller } = await dial(server);
    await caller.speak(silence(200));
    await caller.speak(tone(6_000));
    await caller.speak(silence(1_200));
    const { item } = await caller.until('conversation.item.done');
    await caller.until('response.done');
    caller.send({ type: 'conversation.item.retrieve', item_id: item.id });
    const retrieved = await caller.until('conversation.item.retrieved');
    expect(retrieved.item).toMatchObject({ id: item.id, content: [{ transcript: 'hello there', audio: null }] });
  });

  it('opens the session with the settings of its form within the limits of its client secret', async () => {
    const server = await serve({ flags: { apiKeys: 'server-key' } });
    const session = { type: 'realtime', model: 'alice', instructions: 'It rains.', audio: { output: { speed: 1.2 } } };
    const made = await server.ask('/v1/realtime/client_secrets', { key: 'server-key', body: { session } });
    const caller = new NodeCaller();
    const form = new FormData();
    form.set('sdp', await caller.offer());
    form.set('session', JSON.stringify({ type: 'realtime', instructions: 'It snows.', tracing: 'auto' }));
    const response = await offerTo(server, form, { headers: { authorization: `Bearer ${made.body.value}` } });
    expect(response.status).toBe(201);
    await caller.connect(await response.text());
    expect((await caller.until('session.created')).session).toMatchObject({
      model: 'alice',
      instructions: 'It snows.',
      tracing: 'auto',
      audio: { output: { speed: 1.2 }, input: { format: { type: 'audio/pcm' } } },
    });
  });

  it('ends the session when the client hangs up', async () => {
    const server = await serve();
    const { caller } = await dial(server);
    await caller.until('session.created');
    expect(server.sessions.active).toBe(1);
    await caller.close();
    await expect.poll(() => server.sessions.active).toBe(0);
  });

  it('ends a call when another client with the same API key hangs it up', async () => {
    const server = await serve({ flags: { apiKeys: 'one,two' } });
    const hangUp = (location: string, key: string) => server.ask(`${location}/hangup`, { key, body: {} });
    const { caller, location } = await dial(server, { headers: { authorization: 'Bearer one' } });
    expect((await hangUp(location, 'two')).status).toBe(404);
    expect((await hangUp(`${callsPath}/rtc_nobody`, 'one')).status).toBe(404);
    const response = await fetch(`${server.url}${location}/hangup`, {
      method: 'POST',
      headers: { authorization: 'Bearer one' },
    });
    expect([response.status, await response.text()]).toEqual([200, '']);
    await caller.untilClosed();
    expect(server.sessions.active).toBe(0);
  });

  it('refuses media from a peer other than the one in the offer', async () => {
    const server = await serve();
    const caller = new NodeCaller();
    const sdp = (await caller.offer()).replaceAll(/(a=fingerprint:sha-256) \S+/g, `$1 ${'AB:'.repeat(31)}AB`);
    const response = await offerTo(server, sdp);
    expect(response.status).toBe(201);
    void caller.connect(await response.text());
    await expect.poll(() => server.log.some((line) => line.includes('call ended')), { timeout: 10_000 }).toBe(true);
    expect(caller.events).toEqual([]);
    expect(server.sessions.active).toBe(0);
  });

  it('ends the call when the server stops', async () => {
    const server = await serve();
    const { caller } = await dial(server);
    await Promise.all([caller.untilClosed(), server.app.close()]);
    expect(server.sessions.active).toBe(0);
  });
});

describe('refused call', () => {
  const offer = new NodeCaller().offer();

  it('refuses an invalid offer with a status and a code', async () => {
    const server = await serve({ flags: { apiKeys: 'server-key' } });
    const key = { authorization: 'Bearer server-key' };
    const sdp = await offer;
    const refused = async (body: string | FormData, asking: Asking = { headers: key }) =>
      refusalOf(await offerTo(server, body, asking));
    expect(await refused(sdp, {})).toEqual([401, 'invalid_api_key']);
    expect(await refused(sdp, { headers: { authorization: 'Bearer ek_gone' } })).toEqual([
      401,
      'client_secret_expired',
    ]);
    expect(await refused(sdp, { headers: { ...key, origin: 'https://evil.example' } })).toEqual([
      403,
      'origin_not_allowed',
    ]);
    expect(await refused(sdp, { headers: key, query: '?model=nobody' })).toEqual([404, 'unknown_character']);
    expect(await refused(sdp, { headers: { ...key, 'content-type': 'text/html' } })).toEqual([400, 'invalid_event']);
    expect(await refused('')).toEqual([400, 'invalid_value']);
    expect(await refused('hello')).toEqual([400, 'invalid_value']);
    expect(await refused(sdp.replaceAll('m=audio', 'm=video'))).toEqual([400, 'invalid_value']);
    expect(await refused(sdp.replaceAll(/opus/gi, 'PCMU'))).toEqual([400, 'invalid_value']);
    expect(await refused(sdp.replaceAll(/a=fingerprint.*\r\n/g, ''))).toEqual([400, 'invalid_value']);
    expect(await refused('x'.repeat(600_000))).toEqual([413, 'message_too_large']);
    const form = new FormData();
    expect(await refused(form)).toEqual([400, 'invalid_event']);
    form.set('sdp', sdp);
    form.set('session', '{');
    expect(await refused(form)).toEqual([400, 'invalid_json']);
    form.set('session', '{"audio":{"output":{"speed":9}}}');
    expect(await refused(form)).toEqual([400, 'invalid_value']);
    expect(server.sessions.opened).toBe(0);
  });

  it('refuses a call while all slots are taken', async () => {
    const server = await serve({ flags: { maxSessions: '1' } });
    await dial(server);
    expect(await refusalOf(await offerTo(server, await offer))).toEqual([503, 'server_busy']);
  });

  it('lets the page of an allowed origin read why its call was refused', async () => {
    const origin = 'https://game.example';
    const server = await serve({ flags: { apiKeys: 'server-key', allowedOrigins: origin } });
    const refused = await offerTo(server, 'hello', { headers: { origin } });
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([401, origin]);
  });

  it('survives any mutated offer', async () => {
    const server = await serve({ flags: { maxHandshakesPerMinute: '10000' } });
    const lines = (await offer).split('\r\n');
    const broken = fc.array(
      fc.tuple(
        fc.nat(lines.length - 1),
        fc.constantFrom(
          '',
          'm=audio 9 x 1',
          'a=mid:x',
          'a=setup:',
          'a=group:BUNDLE',
          'm=application 9 x y',
          'a=ice-ufrag:',
        ),
      ),
      { minLength: 1, maxLength: 4 },
    );
    await fc.assert(
      fc.asyncProperty(broken, async (changes) => {
        const mutated = lines.map((line, at) => changes.find(([place]) => place === at)?.[1] ?? line).join('\r\n');
        expect([201, 400]).toContain((await offerTo(server, mutated)).status);
      }),
      { numRuns: 60 },
    );
    expect((await server.ask('/healthz')).status).toBe(200);
  });
});
