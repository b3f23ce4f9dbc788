import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { socketTransport } from '../../../server/connections/socket-transport.ts';
import { limits } from '../../../server/protocol/limits.ts';
import { serverEventSchema } from '../../../server/protocol/server-events.ts';
import { settle } from '../../fakes/clock.ts';
import { serve } from '../../rigs/serve-rig.ts';

const bearer = (value: string): Record<string, string> => ({ authorization: `Bearer ${value}` });

afterEach(() => void vi.useRealTimers());

/** Sends bytes over a bare connection, and returns what comes back until it is closed. */
async function raw(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.on('data', (piece) => (answer += piece.toString()));
  socket.on('error', () => undefined);
  socket.write(bytes);
  await once(socket, 'close');
  return answer;
}

describe('hanging connection', () => {
  it('closes a connection that sends no request or only half of one', async () => {
    const { port } = await serve({ flags: { handshakeTimeoutMs: '100' } });
    const half = await raw(port, 'GET /v1/realtime HTTP/1.1\r\nhost: 127.0.0.1\r\nupgra');
    expect(half).toMatch(/^HTTP\/1.1 408 /);
    expect(half).toContain('"code":"invalid_event"');
  });

  it('closes a connection after two unanswered pings and keeps one that answers', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const { call, connect } = await serve();
    const [alive, dead] = [call(), connect({ autoPong: false })];
    await Promise.all([alive.until('session.created'), dead.until('session.created')]);
    const pinged = Promise.all([once(alive.socket, 'ping'), once(dead.socket, 'ping')]);
    vi.advanceTimersByTime(25_000);
    await pinged;
    // The answer to the ping came before this.
    alive.send({ type: 'session.update', session: { type: 'realtime' } });
    await alive.until('session.updated');
    vi.advanceTimersByTime(25_000);
    expect((await dead.closed).code).toBe(1006);
    expect(alive.socket.readyState).toBe(WebSocket.OPEN);
  });

  it('stops reading from a client that does not read and disconnects it when too much is buffered', () => {
    const calls: string[] = [];
    const flushed: (() => void)[] = [];
    const socket = {
      OPEN: 1,
      readyState: 1,
      bufferedAmount: 0,
      send(frame: string, done: () => void) {
        socket.bufferedAmount += frame.length;
        flushed.push(done);
      },
      on: () => undefined,
      pause: () => void calls.push('pause'),
      resume: () => void calls.push('resume'),
      close: (code: number) => void calls.push(`close ${code}`),
      terminate: () => void calls.push('terminate'),
    };
    const carrier = socketTransport(socket as unknown as WebSocket);
    const frame = 'x'.repeat(100 * 1024);
    for (let count = 0; count < 5; count += 1) expect(carrier.send(frame)).toBe(true);
    expect(calls).toEqual([]);
    carrier.send(frame);
    carrier.send(frame);
    expect(calls).toEqual(['pause']);
    socket.bufferedAmount = 200 * 1024;
    flushed.shift()?.();
    expect(calls).toEqual(['pause']);
    socket.bufferedAmount = 100 * 1024;
    flushed.shift()?.();
    flushed.shift()?.();
    expect(calls).toEqual(['pause', 'resume']);
    expect(carrier.send('x'.repeat(2 * limits.unsentBytes))).toBe(true);
    expect(carrier.send(frame)).toBe(false);
    carrier.close('client_too_slow');
    expect(calls.slice(2)).toEqual(['pause', 'terminate']);
  });
});

describe('session time limit', () => {
  it('reports the session time limit and closes so that the client reconnects', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { call } = await serve({ flags: { maxSessionMinutes: '1' } });
    const wire = call();
    const { session } = await wire.until('session.created');
    expect(session.expires_at - Date.now() / 1000).toBeGreaterThan(50);
    await vi.advanceTimersByTimeAsync(60_000);
    expect((await wire.until('error'))['error']).toMatchObject({ code: 'session_expired' });
    await settle();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await wire.closed).toEqual({ code: 1001, reason: 'session_expired' });
  });

  const cases: [minutes: string, lastSeconds: number][] = [
    ['60', 60],
    ['1', 30],
  ];
  it.each(cases)(
    'announces the limit of %s min %i s ahead only to clients that asked for it',
    async (minutes, last) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
      const { call } = await serve({ flags: { maxSessionMinutes: minutes } });
      const [asked, silent] = [call('?x=binary,notice'), call('?x=binary')];
      const { session } = await asked.until('session.created');
      await silent.until('session.created');
      const limitMs = Number(minutes) * 60_000;
      await vi.advanceTimersByTimeAsync(limitMs - last * 1_000 - 1);
      await settle();
      expect(asked.events).toEqual([]);
      await vi.advanceTimersByTimeAsync(1);
      expect(serverEventSchema.parse(await asked.until('x_dramatis.session_expiring'))).toMatchObject({
        expires_in_s: last,
        expires_at: session.expires_at,
        x_seq: 2,
      });
      await vi.advanceTimersByTimeAsync(last * 1_000);
      await asked.until('error');
      await silent.until('error');
      expect(silent.events).toEqual([]);
    },
  );
});

describe('security headers', () => {
  const expected = {
    'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
  };

  it('sends the security headers with every page, list, refusal and error', async () => {
    const { url, port } = await serve({ flags: { apiKeys: 'key' } });
    for (const place of ['/', '/web/app.js', '/healthz', '/v1/models', '/nowhere', '/v1/realtime', '/%zz']) {
      const response = await fetch(`${url}${place}`);
      expect({ place, ...Object.fromEntries(response.headers) }).toMatchObject({ place, ...expected });
    }
    for (const broken of ['nonsense\r\n\r\n', `GET / HTTP/1.1\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`]) {
      const answer = await raw(port, broken);
      expect(answer).toMatch(/^HTTP\/1.1 4(00|31) /);
      for (const name of Object.keys(expected)) expect(answer).toContain(`${name}: `);
    }
  });
});

describe('log', () => {
  it('logs no API key, wherever a client puts it, and no conversation text', async () => {
    const key = 'hush-hush-hush';
    const { ask, call, at, log, port } = await serve({ flags: { apiKeys: key } });
    const secret = `${key}-not`;
    await ask(`/v1/models?api_key=${secret}`, { key });
    await ask('/v1/models', { headers: { 'api-key': secret } });
    await call(`?key=${secret}`).refused;
    await call('', {}, ['realtime', `openai-insecure-api-key.${secret}`]).refused;
    await call('', { authorization: `Bearer ${secret}`, cookie: `session=${secret}` }).refused;
    const elsewhere = new WebSocket(`ws://${at}/healthz?api_key=${secret}`, { headers: bearer(secret) });
    elsewhere.on('error', () => undefined);
    await once(elsewhere, 'unexpected-response');
    elsewhere.terminate();
    await raw(port, `GET /?key=${secret} HTTP/9.9\r\n\r\n`);
    await ask('/v1/chat/completions', { key, body: { messages: [{ role: 'user', content: secret }] } });
    await ask('/v1/chat/completions', { key, body: { messages: [{ role: secret }] } });
    await fetch(`http://${at}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...bearer(key), 'content-type': 'application/json' },
      body: `{"${secret}`,
    });
    await call(`?model=${secret}`, bearer(key)).closed;
    const wire = call(`?model=alice&token=${secret}`, {}, ['realtime', `openai-insecure-api-key.${key}`]);
    await wire.until('session.created');
    wire.send({ type: 'session.update', session: { instructions: secret } });
    wire.send({ type: secret });
    await wire.until('error');
    wire.socket.send(`${secret} is not JSON`);
    const content = [{ type: 'input_text', text: secret }];
    wire.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } });
    wire.send({ type: 'response.create' });
    await wire.until('response.done');
    wire.socket.close();
    await expect.poll(() => log.join('')).toContain('session closed');
    expect(log.join('')).toContain('session opened');
    expect(log.join('')).not.toContain('One two three');
    expect(log.join('')).not.toContain(key);
  });
});
