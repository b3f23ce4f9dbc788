import { EventEmitter, once } from 'node:events';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import type { Engines } from '../../../server/engines/engines.ts';
import { keepAlive } from '../../../server/connections/socket-transport.ts';
import { limits } from '../../../server/protocol/limits.ts';
import { concatSamples, pcm16FromFloats } from '../../../voices/audio.ts';
import { orderViolations, type RecordedEvent } from '../../conformance/realtime-order.ts';
import { fakeEngines } from '../../fakes/engines.ts';
import { silence, tone } from '../../fakes/vad.ts';
import { serve } from '../../rigs/serve-rig.ts';

type Wire = any;

const clients: { readonly socket: WebSocket; readonly events: RecordedEvent[] }[] = [];
afterEach(() => {
  vi.useRealTimers();
  for (const { socket } of clients) socket.terminate();
  const wrong = clients.splice(0).flatMap(({ events }) => orderViolations(events));
  if (wrong.length > 0) throw new Error(wrong.join('\n'));
});

/** The rig's server with these engines, and clients that hold conversations. */
async function open(engines: Engines = fakeEngines()) {
  const server = await serve({ engines, flags: { keptAudioSeconds: '60' } });
  return {
    ...server,
    call: (character = '') => call(`ws://${server.at}/v1/realtime?model=${character}`),
    health: async () => (await fetch(`${server.url}/healthz`)).text(),
  };
}

/** A client that records everything; the order of the events is checked when the test ends. */
async function call(url: string) {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  const events: RecordedEvent[] = [];
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  const gone = closed.then((code) => Promise.reject(new Error(`the connection was closed with ${code}`)));
  gone.catch(() => undefined);
  socket.on('message', (data: Buffer) => events.push(JSON.parse(data.toString()) as RecordedEvent));
  clients.push({ socket, events });
  const client = {
    socket,
    events,
    closed,
    of: (type: string): Wire[] => events.filter((event) => event.type === type),
    codes: () => client.of('error').map((event) => event.error.code as string),
    send: (event: unknown) => socket.send(JSON.stringify(event)),
    /** Appends audio, all at once. */
    append: (...blocks: Float32Array[]) =>
      client.send({ type: 'input_audio_buffer.append', audio: base64(concatSamples(blocks)) }),
    say: (text: string) => {
      client.send(itemWith({ type: 'input_text', text }));
      client.send({ type: 'response.create' });
    },
    /** Waits for this many events of a type; resolves to the last of them. */
    async until(type: string, count = 1): Promise<Wire> {
      while (client.of(type).length < count) await Promise.race([once(socket, 'message'), gone]);
      return client.of(type)[count - 1];
    },
    /** A complete typed turn, to show that the session lives. */
    async answers(): Promise<void> {
      const before = client.of('response.done').length;
      client.say('Are you there?');
      expect((await client.until('response.done', before + 1)).response.status).toBe('completed');
    },
  };
  await client.until('session.created');
  return client;
}

const base64 = (samples: Float32Array): string => pcm16FromFloats(samples).toString('base64');
const deep = `${'{"a":['.repeat(100_000)}1${']}'.repeat(100_000)}`;

function itemWith(part: unknown, id?: string): unknown {
  return { type: 'conversation.item.create', item: { id, type: 'message', role: 'user', content: [part] } };
}

const minute = itemWith({ type: 'input_audio', audio: base64(tone(60_000)), transcript: 'long' }, 'minute');

describe('invalid frame', () => {
  const frames: [what: string, frame: string | Buffer, code?: string][] = [
    ['an empty frame', '', 'invalid_json'],
    ['null', 'null', 'invalid_event'],
    ['brackets a million deep', '['.repeat(1_000_000), 'invalid_event'],
    ['objects and arrays 200,000 deep', deep, 'invalid_event'],
    ['depth in an unknown field', `{"type":"response.cancel","x":${deep}}`, 'invalid_event'],
    ['depth in the session', `{"type":"session.update","session":{"tracing":${deep}}}`, 'invalid_event'],
    ['depth in a tool', `{"type":"session.update","session":{"tools":[{"x":${deep}}]}}`, 'invalid_event'],
    ['a prototype', '{"__proto__":{"type":"response.create"}}', 'invalid_event'],
    ['a prototype in the session', '{"type":"session.update","session":{"__proto__":{"instructions":"x","evil":1}}}'],
    ['a constructor', '{"type":"session.update","session":{"constructor":{"prototype":{"evil":1}}}}'],
    ['a type that is a method', '{"type":"toString"}', 'unknown_event_type'],
    ['a type that is an object', '{"type":{"toString":1}}', 'invalid_event'],
    ['a lone surrogate', '{"type":"\\ud800"}', 'unknown_event_type'],
    ['a zero character', '{"type":"response.create\\u0000"}', 'unknown_event_type'],
    ['raw audio', Buffer.alloc(960), 'binary_not_supported'],
    ['a frame that is too large', JSON.stringify('x'.repeat(limits.frameBytes)), 'message_too_large'],
  ];
  it('leaves the session unchanged after an invalid frame', async () => {
    const server = await open();
    for (const [what, frame, code] of frames) {
      const client = await server.call();
      client.socket.send(frame);
      await client.answers();
      expect(client.codes(), `after ${what}`).toEqual(code === undefined ? [] : [code]);
      expect(({} as Record<string, unknown>)['evil'], `after ${what}`).toBeUndefined();
    }
  });

  const fatal: [what: string, frame: Buffer, closeCode: number][] = [
    ['far too large', Buffer.alloc(2 * limits.frameBytes + 1, 'x'), 1009],
    ['invalid UTF-8', Buffer.from([0x22, 0xc3, 0x28, 0x22]), 1007],
  ];
  for (const [what, frame, closeCode] of fatal) {
    it(`closes only the connection that sent a frame that is ${what}, with ${closeCode}`, async () => {
      const { call } = await open();
      const [one, other] = [await call(), await call('alice')];
      one.socket.send(frame, { binary: false });
      expect(await one.closed).toBe(closeCode);
      await other.answers();
    });
  }

  it('serves another session undisturbed while a client sends ten thousand invalid frames', async () => {
    const { call } = await open();
    const [flooder, other] = [await call(), await call('alice')];
    const turn = other.answers();
    for (let index = 0; index < 10_000; index += 1) flooder.socket.send('{"type":');
    await turn;
    await other.answers();
    expect(other.codes()).toEqual([]);
    await flooder.until('error');
    expect(flooder.codes().every((code) => code === 'invalid_json' || code === 'rate_limit_exceeded')).toBe(true);
    // It may have to wait for its allowance, but it is heard again.
    await vi.waitUntil(() => {
      flooder.send({ type: 'session.update', session: {} });
      return flooder.of('session.updated').length > 0;
    }, 20_000);
  });
});

describe('client pace', () => {
  it('accepts a turn that is sent faster than it was spoken', async () => {
    const client = await (await open()).call();
    client.append(silence(1_000), tone(5_000), silence(2_000));
    const { transcript } = await client.until('conversation.item.input_audio_transcription.completed');
    expect(transcript).toBe('hello there');
    expect((await client.until('response.done')).response.status).toBe('completed');
    expect(client.of('input_audio_buffer.committed')).toHaveLength(1);
    await client.answers();
  });

  it('refuses an hour of audio sent at once with an error and drops the excess', async () => {
    const { call } = await open();
    const [hasty, other] = [await call(), await call('alice')];
    const audio = 'A'.repeat(15 * 1024 * 1024);
    const frame = JSON.stringify({ type: 'input_audio_buffer.append', audio });
    const hoursEach = (audio.length * 0.75) / 48_000 / 3_600;
    for (let hours = 0; hours < 1; hours += hoursEach) hasty.socket.send(frame);
    expect((await hasty.until('error')).error.code).toMatch(/^(input_audio_too_fast|rate_limit_exceeded)$/);
    await other.answers();
    await hasty.answers();
  }, 60_000);

  it('keeps a connection alive while audio arrives, however late its pong', () => {
    vi.useFakeTimers();
    let terminated = 0;
    const socket = Object.assign(new EventEmitter(), { ping: () => 0, terminate: () => (terminated += 1) });
    keepAlive(socket as unknown as WebSocket);
    for (const sign of ['message', 'pong', 'message']) {
      vi.advanceTimersByTime(30_000);
      socket.emit(sign);
    }
    expect(terminated).toBe(0);
    vi.advanceTimersByTime(60_000);
    expect(terminated).toBeGreaterThan(0);
    socket.emit('close');
  });

  it('returns a minute of audio in one piece', async () => {
    const client = await (await open()).call();
    client.send(minute);
    client.send({ type: 'conversation.item.retrieve', item_id: 'minute' });
    const { item } = await client.until('conversation.item.retrieved');
    expect(Buffer.from(item.content[0].audio, 'base64').length).toBe(60 * 48_000);
    await client.answers();
  });

  it('disconnects a client that does not read before much is buffered for it', async () => {
    const { app, call, health, log } = await open();
    const [deaf, other] = [await call(), await call('alice')];
    const [server] = app.websocketServer.clients;
    deaf.send(minute);
    await deaf.until('conversation.item.done');
    deaf.socket.pause();
    for (let index = 0; index < 50; index += 1) deaf.send({ type: 'conversation.item.retrieve', item_id: 'minute' });
    await vi.waitUntil(() => log.join('').includes('"reason":"client_too_slow"'), { timeout: 20_000 });
    expect(server?.bufferedAmount).toBeLessThan(2 * limits.unsentBytes);
    await other.answers();
    await expect.poll(health).toContain('"active":1');
  });
});
