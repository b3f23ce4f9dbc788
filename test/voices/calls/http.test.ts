import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { openContext, type EngineContext } from '../../../voices/calls/context.ts';
import { send, sendForBytes } from '../../../voices/calls/http.ts';
import type { Timeouts } from '../../../voices/calls/call-policy.ts';
import { openEngineServer, type EngineServer } from '../../fakes/servers/engine-server.ts';

const { signal } = new AbortController();
const context = (timeouts: Partial<Timeouts> = {}): EngineContext =>
  openContext('voice', { callPolicy: [{ timeouts }] });
let raw: Server | undefined;
const sockets = new Set<Socket>();

afterEach(() => {
  for (const socket of sockets) socket.destroy();
  raw?.close();
  raw = undefined;
});

/** A server that answers every connection with these bytes. */
async function openRaw(bytes: string): Promise<number> {
  raw = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => socket.write(bytes));
  });
  raw.listen(0, '127.0.0.1');
  await once(raw, 'listening');
  return (raw.address() as AddressInfo).port;
}

function openEcho(): Promise<EngineServer> {
  return openEngineServer({
    'POST /echo': ({ bytes, headers }) => ({ headers: { 'content-type': headers['content-type'] ?? '' }, body: bytes }),
    'GET /slow': () => ({ body: drips(3, 15) }),
    'GET /away': () => ({ status: 307, headers: { location: '/slow' } }),
  });
}

async function* drips(count: number, everyMs: number): AsyncGenerator<string> {
  for (let index = 0; index < count; index += 1) {
    await new Promise((resolve) => setTimeout(resolve, everyMs));
    yield 'drip';
  }
}

describe('HTTP request', () => {
  it('HTTP requests reuse their connection', async () => {
    await using server = await openEcho();
    for (const text of ['a', 'b', 'c']) {
      const bytes = await sendForBytes(context(), { url: `${server.url}/echo`, bytes: Buffer.from(text) }, { signal });
      expect(bytes.toString()).toBe(text);
    }
    expect(server.connections).toBe(1);
  });

  it('an HTTP response waits for a slow reader', async () => {
    await using server = await openEcho();
    const { body } = await send(context({ betweenBytesMs: 60 }), { url: `${server.url}/slow` }, { signal });
    let text = '';
    for await (const piece of body) {
      text += piece.toString();
      await new Promise((resolve) => setTimeout(resolve, 80));
    }
    expect(text).toBe('dripdripdrip');
  });

  it.each([
    [
      'nobody listens',
      async (): Promise<string> => 'http://127.0.0.1:1',
      {},
      'ENGINE_UNAVAILABLE',
      'Check "baseUrl" of the engine "voice"',
    ],
    [
      'it is no HTTP',
      async (): Promise<string> => `http://127.0.0.1:${await openRaw('SSH-2.0-OpenSSH_9.6\r\n')}`,
      {},
      'ENGINE_BAD_REPLY',
      'does not speak HTTP',
    ],
    [
      'it speaks no TLS',
      async (): Promise<string> => `https://127.0.0.1:${await openRaw('HTTP/1.1 400 Bad Request\r\n\r\n')}`,
      {},
      'ENGINE_UNAVAILABLE',
      'must begin with http or https',
    ],
    [
      'the handshake never ends',
      async (): Promise<string> => `https://127.0.0.1:${await openRaw('')}`,
      { connectMs: 30 },
      'ENGINE_TIMEOUT',
      'no connection',
    ],
    [
      'no response comes',
      async (): Promise<string> => `http://127.0.0.1:${await openRaw('')}`,
      { firstByteMs: 30 },
      'ENGINE_TIMEOUT',
      'no response',
    ],
    [
      'the answer stops',
      async (): Promise<string> =>
        `http://127.0.0.1:${await openRaw('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc')}`,
      { betweenBytesMs: 30 },
      'ENGINE_TIMEOUT',
      'no further data',
    ],
  ] as const)('an HTTP request fails with a clear error when %s', async (_name, url, timeouts, code, words) => {
    const asking = sendForBytes(context(timeouts), { url: await url() }, { signal });
    await expect(asking).rejects.toMatchObject({ code, detail: expect.stringContaining(words) });
  });

  it('an HTTP request does not follow redirects', async () => {
    await using server = await openEcho();
    const asking = send(context(), { url: `${server.url}/away` }, { signal });
    await expect(asking).rejects.toMatchObject({ code: 'ENGINE_REFUSED', status: 307 });
  });
});
