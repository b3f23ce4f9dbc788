import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { limits } from '../../../server/limits/limits.ts';
import { serve } from '../../rigs/serve-rig.ts';

const key = 'key-of-the-first-account';
const sockets: Socket[] = [];
afterEach(() => {
  vi.useRealTimers();
  sockets.splice(0).forEach((socket) => socket.destroy());
});

/** Sends the head of a request and some of its body, which never ends. */
function begin(port: number, place: string, options: { key?: string; type?: string; body?: string } = {}) {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  let answer = '';
  socket.on('data', (piece: Buffer) => (answer += piece.toString()));
  socket.on('error', () => undefined);
  const { type = 'application/json', body = '{"model":' } = options;
  const shown = options.key === undefined ? '' : `authorization: Bearer ${options.key}\r\n`;
  const head = `POST ${place} HTTP/1.1\r\nhost: 127.0.0.1\r\n${shown}content-type: ${type}\r\ncontent-length: 5000\r\n\r\n`;
  socket.write(`${head}${body}`);
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(answer)));
  return { socket, closed };
}

/** Runs the server’s checks of this many seconds, between which `send` may send. */
async function pass(seconds: number, send: () => Promise<unknown> = async () => undefined): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    await send();
    await vi.advanceTimersByTimeAsync(1_000);
  }
}

describe('a request whose body never ends', () => {
  it.each([
    ['on an unknown path', '/nowhere', 404, key],
    ['without a key', '/v1/chat/completions', 401, undefined],
    ['with a wrong key', '/characters/import', 401, 'guess'],
  ])('is answered %s before its body is read, and its socket is closed', async (_what, place, status, shown) => {
    const { port } = await serve({ flags: { apiKeys: key } });
    const { closed } = begin(port, place, shown === undefined ? {} : { key: shown });
    const answer = await closed;
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer).toMatch(/connection: close/i);
  });

  it('is ended when nothing of its body has come for ten seconds', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const { app, port } = await serve({ flags: { apiKeys: key } });
    const reached = new Promise<void>((resolve) => app.server.once('request', () => resolve()));
    const { closed } = begin(port, '/v1/chat/completions', { key });
    await reached;
    await pass(limits.bodyIdleSeconds.value + 1);
    expect(await closed).toMatch(/^HTTP\/1\.1 408 [^]*"code":"invalid_event"/);
  });

  it.each([
    ['application/json', limits.bodySeconds.value],
    ['multipart/form-data; boundary=b', limits.uploadSeconds.value],
  ])('is ended in time even if a byte of it comes each second (%s)', async (type, seconds) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const { app, port } = await serve({ flags: { apiKeys: key } });
    const reached = new Promise<Socket>((resolve) => app.server.once('request', ({ socket }) => resolve(socket)));
    const place = type === 'application/json' ? '/v1/chat/completions' : '/v1/audio/transcriptions';
    const { socket, closed } = begin(port, place, { key, type, body: '' });
    const served = await reached;
    let isClosed = false;
    void closed.then(() => (isClosed = true));
    await pass(seconds - 1, async () => {
      const before = served.bytesRead;
      socket.write(' ');
      await expect.poll(() => served.bytesRead, { interval: 1 }).toBeGreaterThan(before);
    });
    expect(isClosed).toBe(false);
    await pass(2);
    expect(await closed).toMatch(/^HTTP\/1\.1 408 /);
  });
});

describe('sockets', () => {
  it('are closed at once beyond the setting, and beyond half of it from one address', async () => {
    const { port } = await serve({ flags: { maxSockets: '6' } });
    const ask = async (): Promise<string> => (await begin(port, '/nowhere').closed).slice(0, 12);
    const waiting = Array.from({ length: 3 }, () => connect(port, '127.0.0.1'));
    sockets.push(...waiting);
    await Promise.all(waiting.map((socket) => once(socket, 'connect')));
    expect(await ask()).toBe('');
    waiting.forEach((socket) => socket.destroy());
    await expect.poll(ask).toBe('HTTP/1.1 404');
  });
});
