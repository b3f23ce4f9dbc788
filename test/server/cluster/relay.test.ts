import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../../rigs/cluster-rig.ts';
import { Relays } from '../../../server/cluster/relay.ts';

const servers: Server[] = [];
afterEach(() => servers.splice(0).forEach((server) => server.close()));

async function listen(onUpgrade: (request: IncomingMessage, socket: Duplex) => void): Promise<string> {
  const server = createServer((_request, response) => response.end()).on('upgrade', onUpgrade);
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const relays = new Relays('the key of the nodes');

/** A client that sends an upgrade, with headers, to a node that passes it on to `owner`. */
async function upgradeVia(owner: string, headers: readonly string[] = []) {
  const outcome = Promise.withResolvers<Awaited<ReturnType<Relays['pass']>>>();
  const node = await listen((request) => {
    void relays.pass({ request, address: '203.0.113.7', url: owner }).then(outcome.resolve);
  });
  const client = connect(Number(new URL(node).port), '127.0.0.1');
  const head = ['GET /v1/realtime?after=3 HTTP/1.1', 'Host: talk.example', 'Connection: Upgrade', 'Upgrade: websocket'];
  client.write(`${[...head, ...headers].join('\r\n')}\r\n\r\n`);
  return { client, outcome: await outcome.promise };
}

describe('Relays', () => {
  it('passes the same upgrade on, with the key of the nodes in place of what the client says', async () => {
    const asked = Promise.withResolvers<IncomingMessage>();
    const owner = await listen((request, socket) => {
      asked.resolve(request);
      socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nfirst');
      socket.on('data', (data: Buffer) => socket.end(`echo ${data.toString()}`));
    });
    const forged = ['X-Dramatis-Cluster-Key: guessed', 'X-Dramatis-Cluster-Address: 127.0.0.1', 'X-Other: kept'];
    const { client, outcome } = await upgradeVia(owner, forged);
    expect(outcome).toBe('passed');
    const { url, headers } = await asked.promise;
    expect([url, headers.host, headers['x-other']]).toEqual(['/v1/realtime?after=3', 'talk.example', 'kept']);
    expect(relays.addressIn(headers)).toBe('203.0.113.7');
    expect(relays.addressIn({ ...headers, 'x-dramatis-cluster-key': 'guessed' })).toBeUndefined();
    expect(relays.size).toBe(1);
    client.write('hello');
    let got = '';
    client.on('data', (data: Buffer) => (got += data.toString()));
    await once(client, 'close');
    expect(got).toMatch(/^HTTP\/1\.1 101 [\s\S]*\r\n\r\nfirstecho hello$/);
    await until(() => relays.size === 0);
  });

  it('passes on that the owner refuses the client, but not that it accepts no sessions', async () => {
    const refusal = (status: string) => (_request: IncomingMessage, socket: Duplex) =>
      socket.end(
        `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
      );
    const refused = await upgradeVia(await listen(refusal('401 Unauthorized')));
    expect(refused.outcome).toMatchObject({ status: 401, body: '{}' });
    const full = await upgradeVia(await listen(refusal('503 Service Unavailable')));
    expect(full.outcome).toBe('silent');
    for (const { client } of [refused, full]) client.destroy();
  });

  it('gives up on a node that is silent, or that refuses the connection', async () => {
    const held: Duplex[] = [];
    const silent = await upgradeVia(await listen((_request, socket) => void held.push(socket)));
    expect(silent.outcome).toBe('silent');
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address() as AddressInfo;
    closed.close();
    await once(closed, 'close');
    const gone = await upgradeVia(`http://127.0.0.1:${port}`);
    expect(gone.outcome).toBe('silent');
    for (const { client } of [silent, gone]) client.destroy();
    for (const socket of held) socket.destroy();
  });
});
