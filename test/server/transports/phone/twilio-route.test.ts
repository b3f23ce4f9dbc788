import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { fakeEngines } from '../../../fakes/engines.ts';
import { silence, tone } from '../../../fakes/vad.ts';
import { keptIn } from '../../../rigs/memory-rig.ts';
import { dialPhone } from '../../../rigs/phone-rig.ts';
import { serve as serveWith } from '../../../rigs/serve-rig.ts';

const key = 'hush-hush';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close();
});

async function serve(flags: Record<string, string | boolean> = {}) {
  const engines = fakeEngines({ says: ['Good evening.', 'One two three.'] });
  return { engines, ...(await serveWith({ engines, flags: { apiKeys: key, twilio: true, ...flags } })) };
}

describe('phone call over a socket', () => {
  it('greets, answers and ends a phone call with the phone', async () => {
    const { at, engines, sessions } = await serve();
    const phone = await dialPhone(at);
    phone.start({ character: 'alice', key });
    expect((await phone.listen(200))[800]).toBeCloseTo(0.2, 2);
    phone.speak(silence(800, 8_000));
    phone.speak(tone(600, 8_000));
    phone.speak(silence(1_500, 8_000));
    expect(await phone.listen(300)).toHaveLength(300 * 8);
    expect(engines.agent.situations).toEqual(['greeting', undefined]);
    expect(engines.agent.histories.at(-1)?.at(-1)).toMatchObject({ role: 'user', text: 'hello there' });
    expect(sessions.active).toBe(1);
    phone.send({ event: 'stop', streamSid: 'MZ1', stop: {} });
    expect(await phone.hungUp()).toMatchObject({ code: 1000 });
    expect(sessions.active).toBe(0);
  });

  it('stores the memories of a phone call under the caller’s number', async () => {
    const dataDir = await mkdtemp(path.join(tmpdir(), 'dramatis-phone-'));
    open.push({ close: () => rm(dataDir, { recursive: true }) });
    const { at } = await serve({ memory: true, dataDir, apiKeys: `game:${key}` });
    const phone = await dialPhone(at);
    phone.start({ character: 'alice', key, user: '+15550100' });
    await phone.listen(200);
    phone.send({ event: 'stop', streamSid: 'MZ1', stop: {} });
    await phone.hungUp();
    expect(keptIn(dataDir, '+15550100', 'game')).toMatchObject([{ kind: 'turn', character: 'alice' }]);
  });

  it('ignores frames that are not Twilio messages', async () => {
    const { at, log } = await serve();
    const phone = await dialPhone(at);
    const junk = (): void => {
      for (const frame of ['', 'nonsense', '[]', '{"event":"explode"}', '{"event":"media"}']) phone.socket.send(frame);
      phone.socket.send(Buffer.alloc(100));
      phone.socket.send(JSON.stringify({ event: 'dtmf', dtmf: { digit: '5' } }));
      phone.socket.send(JSON.stringify({ event: 'connected', padding: 'x'.repeat(60_000) }));
    };
    phone.send({ event: 'media', media: { track: 'inbound', payload: 'AAAA' } });
    phone.send({ event: 'mark', mark: { name: 'early' } });
    junk();
    phone.start({ key });
    junk();
    phone.start({ key: 'a second start' });
    phone.send({ event: 'media', media: { track: 'inbound', payload: '%%%' } });
    await phone.listen(200);
    expect(log.filter((line) => line.includes('unknown message from Twilio'))).toHaveLength(1);
  });

  it('frees the session slot when the phone line drops', async () => {
    const { at, log, sessions } = await serve();
    const phone = await dialPhone(at);
    phone.start({ key });
    await phone.listen(60);
    phone.socket.terminate();
    await expect.poll(() => sessions.active).toBe(0);
    expect(log.some((line) => line.includes('session closed'))).toBe(true);
  });

  it('accepts the API key of a phone call as a header or as a client secret', async () => {
    const { at } = await serve();
    const byHeader = await dialPhone(at, { authorization: `Bearer ${key}` });
    byHeader.start({ character: 'alice' });
    await byHeader.listen(60);
    const made = await fetch(`http://${at}/v1/realtime/client_secrets`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ session: { model: 'alice', audio: { output: { format: { type: 'audio/pcma' } } } } }),
    });
    const { value } = (await made.json()) as { value: string };
    const bySecret = await dialPhone(at);
    bySecret.start({ key: value });
    expect((await bySecret.listen(60))[100]).toBeCloseTo(0.2, 2);
    const elsewhere = await dialPhone(at);
    elsewhere.start({ key: value, character: 'sherlock-holmes' });
    expect(await elsewhere.hungUp()).toEqual({ code: 1008, reason: 'character_not_allowed' });
  });

  const refused: [what: string, parameters: Record<string, string>, reason: string][] = [
    ['no key', { character: 'alice' }, 'invalid_api_key'],
    ['a wrong key', { character: 'alice', key: 'wrong-key-of-mine' }, 'invalid_api_key'],
    ['an invented client secret', { key: 'ek_nobody' }, 'client_secret_expired'],
    ['an empty user name', { character: 'alice', key, user: '' }, 'invalid_value'],
    ['an unknown character', { character: 'nobody', key }, 'unknown_character'],
  ];
  it.each(refused)(
    'refuses a phone call with %s and logs the reason without the key',
    async (_what, parameters, reason) => {
      const { at, log, sessions } = await serve();
      const phone = await dialPhone(at);
      phone.start(parameters);
      phone.start({ key });
      expect(await phone.hungUp()).toEqual({ code: 1008, reason });
      expect(log.filter((line) => line.includes('call refused') && line.includes(reason))).toHaveLength(1);
      for (const secret of [key, parameters['key'] ?? key]) expect(log.join('')).not.toContain(secret);
      expect(sessions.active).toBe(0);
    },
  );

  it('refuses a phone call while all slots are taken', async () => {
    const { at } = await serve({ maxSessions: '1' });
    const first = await dialPhone(at);
    first.start({ key });
    await first.listen(60);
    const second = await dialPhone(at);
    second.start({ key });
    expect(await second.hungUp()).toEqual({ code: 1013, reason: 'server_busy' });
  });

  it('hangs up on a phone call that never sends start', async () => {
    const { at } = await serve({ handshakeTimeoutMs: '100' });
    const phone = await dialPhone(at);
    expect(await phone.hungUp()).toEqual({ code: 1008, reason: 'invalid_event' });
  });

  it('refuses phone calls from foreign web pages and plain HTTP requests', async () => {
    const { at } = await serve();
    const socket = new WebSocket(`ws://${at}/v1/twilio`, { headers: { origin: 'https://elsewhere.example' } });
    socket.on('error', () => undefined);
    const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
    expect(response.statusCode).toBe(403);
    socket.terminate();
    expect((await fetch(`http://${at}/v1/twilio`)).status).toBe(404);
  });
});
