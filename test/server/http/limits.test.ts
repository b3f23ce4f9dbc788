import type { ServerEvent } from '../../../server/protocol/server-events.ts';
import { describe, expect, it } from 'vitest';
import type { Engines } from '../../../server/engines/engines.ts';
import { addressOf } from '../../../server/http/auth-guard.ts';
import { createInputRateLimit, TokenBucket } from '../../../server/http/rate-limit.ts';
import { newId } from '../../../server/realtime/encode.ts';
import { openConnection } from '../../../server/realtime/connection.ts';
import { pcm16FromFloats } from '../../../voices/audio.ts';
import { ManualClock } from '../../fakes/clock.ts';
import { fakeEngines } from '../../fakes/engines.ts';
import { tone } from '../../fakes/vad.ts';
import { characters, serve } from '../../rigs/serve-rig.ts';

const bearer = (value: string): Record<string, string> => ({ authorization: `Bearer ${value}` });

describe('TokenBucket', () => {
  it('passes a burst and then the refill rate, and counts the debt', () => {
    let now = 0;
    const bucket = new TokenBucket({ burst: 3, perSecond: 2, now: () => now });
    expect([1, 2, 3, 4].map(() => bucket.take())).toEqual([true, true, true, false]);
    now = 1_000;
    expect([1, 2, 3].map(() => bucket.take())).toEqual([true, true, false]);
    now = 10_000;
    expect(bucket.full).toBe(true);
    expect(bucket.take(9)).toBe(true);
    expect(bucket.take(0.1)).toBe(false);
    expect(bucket.waitMs).toBe(3_500);
    now += 3_500;
    expect(bucket.take(0.1)).toBe(true);
  });
});

describe('addressOf', () => {
  const cases: [ip: string | undefined, address: string][] = [
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:0DB8::1', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    [undefined, 'gone'],
  ];
  for (const [ip, address] of cases)
    it(`counts the address ${ip} as ${address}`, () => expect(addressOf(ip)).toBe(address));
});

describe('session limits', () => {
  it('limits sessions per API key, including its client secrets, but not across keys', async () => {
    const { ask, call } = await serve({ flags: { apiKeys: 'one,other', maxSessionsPerKey: '2' } });
    const { body } = await ask('/v1/realtime/client_secrets', { key: 'one', body: {} });
    const wire = call('', bearer('one'));
    await wire.until('session.created');
    await call('', bearer(body.value)).until('session.created');
    for (const key of ['one', body.value as string]) {
      const refused = { status: 429, code: 'too_many_sessions', retryAfter: '30' };
      expect(await call('', bearer(key)).refused).toEqual(refused);
    }
    await call('', bearer('other')).until('session.created');
    wire.socket.close();
    await wire.closed;
    await expect.poll(async () => (await ask('/healthz')).body.sessions.active).toBe(2);
    await call('', bearer('one')).until('session.created');
  });

  it('limits sessions per address, which a client cannot change by a header', async () => {
    const { call } = await serve({ flags: { maxSessionsPerAddress: '1' } });
    await call('', { 'x-forwarded-for': '192.0.2.1' }).until('session.created');
    const refused = await call('', { 'x-forwarded-for': '192.0.2.2' }).refused;
    expect(refused).toMatchObject({ status: 429, code: 'too_many_sessions' });
  });

  it('counts the address that the trusted proxy reports, not the one that the client claims', async () => {
    const { call } = await serve({ flags: { maxSessionsPerAddress: '1', trustProxy: '1' } });
    await call('', { 'x-forwarded-for': '192.0.2.1' }).until('session.created');
    await call('', { 'x-forwarded-for': '192.0.2.2' }).until('session.created');
    const refused = await call('', { 'x-forwarded-for': '198.51.100.1, 192.0.2.2' }).refused;
    expect(refused).toMatchObject({ status: 429, code: 'too_many_sessions' });
  });

  it('accepts one of two clients that ask for the last slot at once and refuses the other', async () => {
    const { call, sessions } = await serve({ flags: { maxSessions: '1' } });
    await call().until('session.created');
    const check = sessions.refusalFor.bind(sessions);
    let asked = 0;
    // The slot is free at the first check and taken before the upgrade.
    sessions.refusalFor = (visitor) => ((asked += 1) === 1 ? undefined : check(visitor));
    const late = call();
    expect((await late.until('error'))['error']).toMatchObject({ code: 'server_busy' });
    expect(await late.closed).toEqual({ code: 1013, reason: 'server_busy' });
  });

  it('limits handshakes per address, whether they succeed or not', async () => {
    const { call } = await serve({ flags: { apiKeys: 'key', maxHandshakesPerMinute: '3', trustProxy: '1' } });
    const from = (address: string, key: string): ReturnType<typeof call> =>
      call('', { ...bearer(key), 'x-forwarded-for': address });
    for (const key of ['wrong', 'wrong-too']) expect((await from('192.0.2.1', key).refused).status).toBe(401);
    await from('192.0.2.1', 'key').until('session.created');
    const refused = await from('192.0.2.1', 'key').refused;
    expect(refused).toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
    expect(Number(refused.retryAfter)).toBeGreaterThan(0);
    await from('192.0.2.2', 'key').until('session.created');
  });
});

describe('request limits', () => {
  it('answers 503 while all request slots are taken and frees them again', async () => {
    const gate = Promise.withResolvers<void>();
    const engines = fakeEngines();
    const voiceOf: Engines['voiceOf'] = (character) => {
      const { synthesizer, voice } = engines.voiceOf(character);
      async function* speak(...call: Parameters<typeof synthesizer.speak>): ReturnType<typeof synthesizer.speak> {
        await gate.promise;
        yield* synthesizer.speak(...call);
      }
      return { synthesizer: { ...synthesizer, speak }, voice };
    };
    const { ask, url } = await serve({ engines: { ...engines, voiceOf }, flags: { maxRequests: '1' } });
    const speech = { input: 'One.', voice: 'alice', response_format: 'pcm' };
    const speak = (): Promise<Response> =>
      fetch(`${url}/v1/audio/speech`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(speech),
      });
    const first = speak();
    await expect.poll(async () => (await ask('/v1/chat/completions', { body: {} })).status).toBe(503);
    const refused = await ask('/v1/chat/completions', { body: {} });
    expect([refused.body.error.code, refused.headers.get('retry-after')]).toEqual(['server_busy', '5']);
    gate.resolve();
    expect((await (await first).arrayBuffer()).byteLength).toBe(4_800);
    await expect.poll(async () => (await ask('/v1/chat/completions', { body: {} })).status).toBe(400);
  });
});

describe('input limits', () => {
  it('drops audio above the rate limit and transcribes the rest', async () => {
    const holmes = characters.get('sherlock-holmes')!;
    const engines = fakeEngines();
    const events: ServerEvent[] = [];
    let left = 1_000;
    const message = 'More audio than 4 times real time.';
    const clock = new ManualClock();
    const connection = openConnection(
      {
        casting: { character: holmes, responder: engines.responderFor(holmes), about: {} },
        engines: { vad: engines.vad },
        client: {},
        bounds: { speculativeRepliesPerTurn: 0, aheadMs: 400, keptAudioMs: 20_000, sessionMs: 60_000 },
        ports: { clock, newId, onFault: (fault) => expect.fail(String(fault)) },
        model: holmes.id,
        recognizer: 'fake',
        inflow: {
          takeEvent: () => 'take',
          takeText: () => 'take',
          takeAudio: (ms) =>
            (left -= ms) >= 0 ? 'take' : left > -1_000 ? { code: 'rate_limit_exceeded', message } : 'drop',
        },
      },
      { send: (event) => events.push(event) > 0 },
    );
    const audio = pcm16FromFloats(tone(500)).toString('base64');
    const append = JSON.stringify({ type: 'input_audio_buffer.append', audio });
    for (let count = 0; count < 6; count += 1) connection.receiveText(append);
    await clock.advance(2_000);
    connection.close();
    await connection.done;
    const types = events.map((event) => event.type);
    expect(types.filter((type) => type === 'error')).toHaveLength(1);
    expect(types).toContain('input_audio_buffer.speech_started');
    const committed = events.find((event) => event.type === 'input_audio_buffer.speech_stopped');
    expect(committed?.['audio_end_ms']).toBeLessThan(2_000);
  });

  it('accepts ten minutes of audio at once and then four times real time', () => {
    let now = 0;
    const inflow = createInputRateLimit({ maxEventsPerSecond: 200, maxAudioRate: 4 }, () => now);
    const send = (ms: number): unknown => {
      const verdict = inflow.takeAudio(ms);
      return typeof verdict === 'object' ? verdict.code : verdict;
    };
    for (let minute = 0; minute < 10; minute += 1) expect(send(60_000)).toBe('take');
    expect([send(20), send(20)]).toEqual(['rate_limit_exceeded', 'drop']);
    for (let second = 1; second <= 60; second += 1) {
      now = second * 1_000;
      expect([send(2_000), send(2_000), send(20)].slice(0, 2)).toEqual(['take', 'take']);
    }
    now += 500;
    expect(send(2_000)).toBe('take');
    expect(send(2_000)).not.toBe('take');
  });

  it('never limits a client that streams 20 ms frames in real time', () => {
    let now = 0;
    const inflow = createInputRateLimit({ maxEventsPerSecond: 200, maxAudioRate: 4 }, () => now);
    let dropped = 0;
    for (; now < 3_600_000; now += 20) {
      if (inflow.takeEvent() !== 'take' || inflow.takeAudio(20) !== 'take') dropped += 1;
    }
    expect(dropped).toBe(0);
  });
});
