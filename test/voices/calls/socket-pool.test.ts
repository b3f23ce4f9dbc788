import { describe, expect, it } from 'vitest';
import { openContext } from '../../../voices/calls/context.ts';
import { openSocketPool, type PooledSocket, type SocketPool } from '../../../voices/calls/socket-pool.ts';
import { openEngineServer, type EngineServer } from '../../fakes/servers/engine-server.ts';

const context = openContext('voice', { callPolicy: [{ timeouts: { connectMs: 500 } }] });
const { signal } = new AbortController();
const asItIs = async (socket: PooledSocket): Promise<PooledSocket> => socket;

/** Echoes messages; "bye" closes the connection. */
function openEcho(): Promise<EngineServer> {
  return openEngineServer(
    {},
    {
      'WS /echo': (socket) =>
        socket.on('message', (data: Buffer) =>
          data.toString() === 'bye' ? socket.close(1000) : socket.send(data.toString()),
        ),
    },
  );
}

function poolTo(server: EngineServer, idleMs = 60_000): SocketPool {
  return openSocketPool(context, () => ({ url: `${server.url}/echo` }), idleMs);
}

async function echo(socket: PooledSocket, text: string): Promise<unknown> {
  socket.send(text);
  return socket.receive();
}

describe('socket pool', () => {
  it('an idle socket is closed after a while', async () => {
    await using server = await openEcho();
    const socket = await poolTo(server, 1).take(signal, asItIs);
    expect(server.open).toBe(1);
    socket.giveBack();
    await expect.poll(() => server.open).toBe(0);
  });

  it('closing the pool closes its sockets, and sockets returned later too', async () => {
    await using server = await openEcho();
    const pool = poolTo(server);
    const [free, busy] = [await pool.take(signal, asItIs), await pool.take(signal, asItIs)];
    free.giveBack();
    pool.close();
    await expect.poll(() => server.open).toBe(1);
    expect(await echo(busy, 'still here')).toBe('still here');
    busy.giveBack();
    await expect.poll(() => server.open).toBe(0);
  });

  it('a pooled socket is cut only by the signal of its current use', async () => {
    await using server = await openEcho();
    const pool = poolTo(server);
    const [before, now] = [new AbortController(), new AbortController()];
    (await pool.take(before.signal, asItIs)).giveBack();
    const socket = await pool.take(now.signal, asItIs);
    before.abort(new Error('of the use before'));
    expect(await echo(socket, 'unharmed')).toBe('unharmed');
    const reason = new Error('the user spoke');
    const waiting = socket.receive();
    now.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    await expect.poll(() => server.open).toBe(0);
  });
});
