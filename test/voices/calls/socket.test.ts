import { describe, expect, it } from 'vitest';
import { openContext } from '../../../voices/calls/context.ts';
import { openSocket, type UpstreamSocket } from '../../../voices/calls/socket.ts';
import { openEngineServer, type EngineServer } from '../../fakes/servers/engine-server.ts';

const { signal } = new AbortController();
const context = openContext('voice', { callPolicy: [{ timeouts: { connectMs: 50 } }] });

/** Sends "hello", then echoes messages; "bye" and "die" end the connection. */
function openEcho(): Promise<EngineServer> {
  return openEngineServer(
    {},
    {
      'WS /echo': (socket) => {
        socket.send('hello');
        socket.on('message', (data: Buffer, isBinary) => {
          if (data.toString() === 'bye') socket.close(1000);
          else if (data.toString() === 'die') socket.close(1011, 'out of memory');
          else socket.send(isBinary ? data : data.toString());
        });
      },
    },
  );
}

const connect = (server: EngineServer, options = { signal }): Promise<UpstreamSocket> =>
  openSocket(context, { url: `${server.url}/echo`, headers: { authorization: 'Bearer key' } }, options);

describe('engine socket', () => {
  it('the engine socket carries texts and bytes in order until the server closes', async () => {
    await using server = await openEcho();
    const socket = await connect(server);
    socket.send('one');
    socket.send(Buffer.from([1, 2]));
    socket.send('bye');
    const got = [];
    for (let next = await socket.receive(); next !== undefined; next = await socket.receive()) got.push(next);
    expect(got).toEqual(['hello', 'one', Buffer.from([1, 2])]);
    expect(server.requests[0]?.headers.authorization).toBe('Bearer key');
    socket.close();
    socket.send('nobody hears this');
  });

  it('aborting the engine socket before it is open throws the reason', async () => {
    await using server = await openEcho();
    server.breaks({ kind: 'hang' });
    const controller = new AbortController();
    const reason = new Error('the user spoke');
    const connecting = connect(server, controller);
    await expect.poll(() => server.requests.length).toBe(1);
    controller.abort(reason);
    await expect(connecting).rejects.toBe(reason);
  });
});
