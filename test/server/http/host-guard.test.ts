import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { serve } from '../../rigs/serve-rig.ts';

const plain = 'Connection: close\r\n';
const upgrade = `Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${'A'.repeat(22)}==\r\n`;

/** Sends a request with these `Host` headers over a bare connection; returns status and code of the answer. */
async function ask(port: number, hosts: readonly string[], path = '/', more = plain): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.on('data', (piece) => (answer += piece.toString()));
  socket.on('error', () => undefined);
  const lines = hosts.map((host) => `Host: ${host}\r\n`).join('');
  socket.write(`${path.includes(' ') ? path : `GET ${path}`} HTTP/1.1\r\n${lines}${more}\r\n`);
  if (more === plain) await once(socket, 'close');
  else await once(socket, 'data');
  socket.destroy();
  return `${answer.split(' ')[1]} ${/"code":"(\w+)"/.exec(answer)?.[1] ?? ''}`.trim();
}

describe('host of a request', () => {
  it('a page whose name is rebound to this machine reads nothing from a server without keys, on any route', async () => {
    const { port } = await serve();
    const routes = ['/', '/web/page.css', '/client/talk.js', '/characters.html', '/characters', '/metrics', '/healthz'];
    const more = [
      '/v1/models',
      '/v1/memories/export?user=bob',
      '/voices',
      '/asyncapi.json',
      '/nowhere',
      '/v1/realtime',
    ];
    const changes = ['OPTIONS /v1/models', 'POST /v1/chat/completions', 'DELETE /v1/memories?user=bob'];
    for (const path of [...routes, ...more, ...changes])
      expect([path, await ask(port, ['evil.example'], path)]).toEqual([path, '421 host_not_allowed']);
    for (const path of ['/v1/realtime?model=alice', '/v1/twilio', '/nowhere'])
      expect([path, await ask(port, ['evil.example'], path, upgrade)]).toEqual([path, '421 host_not_allowed']);
  });

  it('a server without keys is served under every name of this machine, and no other', async () => {
    const { port } = await serve();
    const ours = ['localhost', 'LocalHost:8080', '127.0.0.1', '127.9.9.9:1', '[::1]:8080', 'dramatis.localhost:8080'];
    for (const host of ours) expect([host, await ask(port, [host], '/healthz')]).toEqual([host, '200']);
    const others = ['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', 'evillocalhost', '10.0.0.1'];
    const odd = [
      '',
      '0.0.0.0',
      'localhost@evil.example',
      'localhost:8080/x',
      'localhost, evil.example',
      '[::2]',
      '::1',
    ];
    for (const host of [...others, ...odd])
      expect([host, await ask(port, [host], '/healthz')]).toEqual([host, '421 host_not_allowed']);
  });

  it('a host of DRAMATIS_ALLOWED_HOSTS is served without keys, with its own pages', async () => {
    const { port } = await serve({ flags: { allowedHosts: 'voices.example,Lab.example' } });
    for (const host of ['voices.example', 'voices.example:8443', 'lab.example', 'localhost'])
      expect(await ask(port, [host], '/healthz')).toBe('200');
    expect(await ask(port, ['more.voices.example'], '/healthz')).toBe('421 host_not_allowed');
    const page = `Origin: https://voices.example\r\n${upgrade}`;
    expect(await ask(port, ['voices.example'], '/v1/realtime?model=alice', page)).toBe('101');
  });

  it('a server with keys is served under any name', async () => {
    const { port } = await serve({ flags: { apiKeys: 'a-long-enough-key' } });
    expect(await ask(port, ['voices.example'], '/healthz')).toBe('200');
    expect(await ask(port, ['voices.example'], '/v1/models')).toBe('401 invalid_api_key');
  });

  it('a request with two Host headers is refused, with and without keys', async () => {
    for (const flags of [{}, { apiKeys: 'a-long-enough-key' }]) {
      const { port } = await serve({ flags });
      expect(await ask(port, ['localhost', 'evil.example'], '/healthz')).toBe('400 invalid_event');
      expect(await ask(port, ['localhost', 'localhost'], '/v1/realtime', upgrade)).toBe('400 invalid_event');
    }
  });

  it('the refusal says what to set', async () => {
    const { app } = await serve();
    const { body } = await app.inject({ url: '/healthz', headers: { host: 'my.example' } });
    for (const text of ['my.example', 'DRAMATIS_API_KEYS', 'DRAMATIS_ALLOWED_HOSTS']) expect(body).toContain(text);
  });
});
