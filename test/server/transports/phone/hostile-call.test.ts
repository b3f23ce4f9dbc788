import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { limits } from '../../../../server/limits/limits.ts';
import { record, serve } from '../../../rigs/serve-rig.ts';

const flags = { apiKeys: 'server-key', twilio: true };
const sockets: { destroy(): unknown }[] = [];
afterEach(() => sockets.splice(0).forEach((socket) => socket.destroy()));

/** A socket that has been upgraded, and never answers a close frame. */
async function upgraded(port: number, path: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  socket.write(
    `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: upgrade\r\nupgrade: websocket\r\n` +
      'sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
  );
  const [head] = (await once(socket, 'data')) as [Buffer];
  expect(head.toString()).toMatch(/^HTTP\/1\.1 101 /);
  return socket;
}

const dial = (at: string, headers: Record<string, string> = {}) =>
  record(new WebSocket(`ws://${at}/v1/twilio`, { headers }));

describe('a hostile phone call', () => {
  it('cannot make the server buffer a frame of megabytes before it has shown a key', async () => {
    const { port } = await serve({ flags });
    const socket = await upgraded(port, '/v1/twilio');
    const header = Buffer.alloc(14);
    header.set([0x82, 0xff]);
    header.writeBigUInt64BE(BigInt(41 * 2 ** 20), 2);
    socket.write(header);
    const [close] = (await once(socket, 'data')) as [Buffer];
    expect([close[0], close.readUInt16BE(2)]).toEqual([0x88, 1009]);
  });

  it('cannot use fragments to send more than one frame may hold', async () => {
    const { at } = await serve({ flags });
    const { socket, closed } = dial(at);
    await once(socket, 'open');
    const half = Buffer.alloc(limits.openingFrameBytes.value / 2);
    for (let piece = 0; piece < 3; piece += 1) socket.send(half, { fin: false });
    expect((await closed).code).toBe(1009);
  });

  it('is cut when it has not begun in time, though it never answers the close frame', async () => {
    const { port, sessions } = await serve({ flags: { ...flags, handshakeTimeoutMs: '100' } });
    const socket = await upgraded(port, '/v1/twilio');
    socket.on('data', () => undefined);
    socket.on('error', () => undefined);
    await once(socket, 'close');
    expect(sessions.opened).toBe(0);
  });

  it('finds no /v1/twilio where Twilio is not configured', async () => {
    const { at } = await serve({ flags: { apiKeys: 'server-key' } });
    expect(await dial(at).refused).toMatchObject({ status: 404, code: 'not_found' });
  });

  it('is refused while as many calls of its address have not begun as one address may have', async () => {
    const { at } = await serve({ flags });
    const waiting = Array.from({ length: limits.openingSocketsPerAddress.value }, () => dial(at));
    await Promise.all(waiting.map(({ socket }) => once(socket, 'open')));
    expect(await dial(at).refused).toMatchObject({ status: 429, code: 'too_many_sessions' });
    const [first] = waiting;
    first?.socket.close();
    await first?.closed;
    const { socket } = dial(at);
    await once(socket, 'open');
  });

  it('is refused while as many calls of all addresses have not begun as the server holds', async () => {
    const { at } = await serve({ flags: { ...flags, trustProxy: '1' } });
    const waiting = Array.from({ length: limits.openingSockets.value }, (_, index) =>
      dial(at, { 'x-forwarded-for': `192.0.2.${index}` }),
    );
    await Promise.all(waiting.map(({ socket }) => once(socket, 'open')));
    const refused = dial(at, { 'x-forwarded-for': '192.0.2.200' }).refused;
    expect(await refused).toMatchObject({ status: 503, code: 'server_busy' });
  });

  it('takes no place of calls that have not begun once it has begun', async () => {
    const { at } = await serve({ flags: { ...flags, maxSessionsPerAddress: '64' } });
    for (let count = 0; count <= limits.openingSocketsPerAddress.value; count += 1) {
      const { socket } = dial(at);
      await once(socket, 'open');
      socket.send(
        JSON.stringify({ event: 'start', start: { streamSid: 'MZ1', customParameters: { key: 'server-key' } } }),
      );
      await expect(once(socket, 'message')).resolves.toBeDefined();
    }
  });
});

describe('a WebSocket on a path that serves none', () => {
  it.each(['/healthz', '/', '/web/app.js', '/nowhere'])(
    'is refused before the upgrade at %s, so that nothing is buffered for it',
    async (path) => {
      const { at } = await serve({ flags });
      const { refused } = record(new WebSocket(`ws://${at}${path}`));
      expect(await refused).toMatchObject({ status: 404, code: 'not_found' });
    },
  );
});
