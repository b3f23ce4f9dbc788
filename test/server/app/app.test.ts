import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { readConfig } from '../../../server/config/config.ts';
import { buildApp } from '../../../server/app/app.ts';
import { fakeEngines } from '../../fakes/engines.ts';
import { characters, record, serve } from '../../rigs/serve-rig.ts';

const key = 'hush-hush';
const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));
const withKey = { apiKeys: `another,${key}` };

/** The rig's server, with requests for the exact path, which `fetch` would normalize. */
async function open(flags: Record<string, string> = {}) {
  const server = await serve({ flags });
  const ask = async (path: string, headers: Record<string, string> = {}) => {
    const request = get({ host: '127.0.0.1', port: server.port, path, headers });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const body = Buffer.concat((await response.toArray()) as Buffer[]).toString();
    return { status: response.statusCode ?? 0, headers: response.headers, body };
  };
  return { ...server, ask };
}

function codeOf({ body }: { readonly body: string }): string {
  return (JSON.parse(body) as { error: { code: string } }).error.code;
}

describe('page', () => {
  it('serves the page with a content security policy for our own files only and obeys it', async () => {
    const { ask } = await open();
    const page = await ask('/');
    expect(page).toMatchObject({ status: 200, headers: { 'x-content-type-options': 'nosniff' } });
    expect(page.headers['content-type']).toMatch(/^text\/html/);
    expect(page.headers['content-security-policy']).toMatch(/default-src 'self';.*frame-ancestors 'none'/);
    expect(page.headers['content-security-policy']).not.toContain('unsafe');
    expect(page.body).not.toMatch(/<script(?![^>]*\ssrc=)|\sstyle=|\son\w+=|(src|href)="(https?:)?\/\//);
    const files = [...page.body.matchAll(/(?:src|href)="(\/?web\/[^"]+|[^":#]+\.(?:js|css|svg))"/g)];
    expect(files.length).toBeGreaterThan(1);
    for (const [, file = ''] of files) {
      expect(await ask(new URL(file, 'http://host/').pathname)).toMatchObject({ status: 200 });
    }
  });

  const escapes = [
    '/web/../config.ts',
    '/web/%2e%2e/config.ts',
    '/web/..%2fconfig.ts',
    '/web/..%5cconfig.ts',
    '/web/%2e%2e%2f%2e%2e%2fpackage.json',
    '/web//etc/passwd',
    '/web/%00',
    '/config.ts',
  ];
  it('serves no file outside the web folder', async () => {
    const { ask } = await open();
    for (const path of escapes) {
      const answer = await ask(path);
      expect([400, 403, 404], `at ${path}`).toContain(answer.status);
      expect(codeOf(answer), `at ${path}`).toMatch(/^(not_found|invalid_event)$/);
      expect(answer.body, `at ${path}`).not.toMatch(/readConfig|"dependencies"|root:/);
    }
  });
});

describe('server information', () => {
  it('reports health, engines and sessions at /healthz without a key', async () => {
    const { ask, call } = await open(withKey);
    const socket = call('', { authorization: `Bearer ${key}` });
    await socket.until('session.created');
    const { status, body } = await ask('/healthz');
    expect(status).toBe(200);
    expect(JSON.parse(body)).toMatchObject({
      status: 'ok',
      version: '0',
      engines: [{ stage: 'vad', name: 'fake-vad' }],
      sessions: { active: 1, opened: 1, most: 64 },
    });
    expect(body).not.toContain(key);
  });

  it('lists the characters as models in the shape of OpenAI’s list', async () => {
    const { ask } = await open();
    const model = { object: 'model', created: expect.any(Number), owned_by: 'dramatis' };
    const data = [...characters.keys()].map((id) => ({ id, ...model }));
    expect(JSON.parse((await ask('/v1/models')).body)).toEqual({ object: 'list', data });
  });

  it('lists the characters with the fields that a picker shows', async () => {
    const { ask } = await open();
    const listed = (JSON.parse((await ask('/characters')).body) as { characters: Record<string, unknown>[] })
      .characters;
    expect(new Set(listed.map((character) => character['id']))).toEqual(new Set(characters.keys()));
    for (const character of listed) {
      const shown = { name: expect.any(String), tagline: expect.any(String), languages: expect.any(Array) };
      expect(character).toMatchObject({ ...shown, greeting: expect.any(String) });
      expect(character).not.toHaveProperty('persona');
    }
  });

  it('lists the user’s own characters first, then the default one', async () => {
    const { characters: cast, ask } = await serve();
    const alice = cast.get('alice');
    if (alice !== undefined) cast.set('my-own', { ...alice, id: 'my-own' });
    const { body } = await ask('/characters');
    expect(body.characters.map(({ id }: { id: string }) => id).slice(0, 3)).toEqual([
      'my-own',
      'sherlock-holmes',
      'abraham-lincoln',
    ]);
  });

  it('answers an unknown path with a coded error', async () => {
    const { ask } = await open();
    for (const path of ['/nothing', '/v1/audio', '/v1/models/', '/healthz/x', '/%zz', '/v1/realtime']) {
      const answer = await ask(path);
      expect([400, 404], `at ${path}`).toContain(answer.status);
      expect(codeOf(answer), `at ${path}`).toMatch(/^(not_found|invalid_event)$/);
      expect(answer.headers['content-security-policy'], `at ${path}`).toContain("default-src 'self'");
    }
  });
});

describe('authentication', () => {
  for (const path of ['/characters', '/v1/models']) {
    it(`requires a valid API key at ${path}`, async () => {
      const { ask } = await open(withKey);
      for (const headers of [{}, { authorization: 'Bearer other' }, { 'api-key': 'other' }]) {
        const answer = await ask(path, headers);
        expect([answer.status, codeOf(answer)]).toEqual([401, 'invalid_api_key']);
      }
      expect((await ask(`${path}?api_key=${key}`)).status).toBe(401);
      expect((await ask(path, { 'api-key': key })).status).toBe(200);
      expect((await ask(path, { authorization: `Bearer ${key}` })).status).toBe(200);
    });
  }

  it('refuses a WebSocket without a valid API key', async () => {
    const { call } = await open(withKey);
    const refused = { status: 401, code: 'invalid_api_key' };
    expect(await call().refused).toMatchObject(refused);
    expect(await call(`?api_key=${key}`).refused).toMatchObject(refused);
    expect(await call('', { authorization: 'Bearer other' }).refused).toMatchObject(refused);
    expect(await call('', {}, ['realtime', 'openai-insecure-api-key.other']).refused).toMatchObject(refused);
  });

  it('accepts a WebSocket with its API key in any of the usual places', async () => {
    const { call } = await open(withKey);
    const ways: [Record<string, string>, string[]][] = [
      [{ authorization: `Bearer ${key}` }, []],
      [{ 'api-key': key }, []],
      [{}, ['realtime', `openai-insecure-api-key.${key}`, 'openai-agents-sdk.0.20.0']],
    ];
    for (const [headers, protocols] of ways) {
      const created = await call('', headers, protocols).until('session.created');
      expect(created['session'].x_dramatis.character.id).toBe('sherlock-holmes');
    }
  });

  it('answers with no subprotocol but realtime, so that no API key is sent back', async () => {
    const { call } = await open(withKey);
    const offered = [`openai-insecure-api-key.${key}`, 'realtime', 'openai-beta.realtime-v1'];
    const client = call('', {}, offered);
    await client.until('session.created');
    expect(client.socket.protocol).toBe('realtime');
    const bare = call('', { authorization: `Bearer ${key}` });
    await bare.until('session.created');
    expect(bare.socket.protocol).toBe('');
  });

  it('refuses foreign origins and accepts our own and the allowed ones', async () => {
    const { ask, at, call } = await open({ allowedOrigins: 'https://studio.example' });
    const refused = { status: 403, code: 'origin_not_allowed' };
    expect(await call('', { origin: 'https://evil.example' }).refused).toMatchObject(refused);
    expect((await ask('/v1/models', { origin: 'https://evil.example' })).status).toBe(403);
    const rebound = { origin: 'http://evil.example', host: 'evil.example' };
    expect(await call('', rebound).refused).toMatchObject({ status: 421, code: 'host_not_allowed' });
    for (const origin of [`http://${at}`, 'https://studio.example']) {
      await call('', { origin }).until('session.created');
    }
  });

  it('refuses a session while all slots are taken and accepts one again when a session ends', async () => {
    const { ask, call } = await open({ maxSessions: '1' });
    const first = call();
    await first.until('session.created');
    expect(await call().refused).toEqual({ status: 503, code: 'server_busy', retryAfter: '5' });
    first.socket.close();
    await expect.poll(async () => (await ask('/healthz')).body).toContain('"active":0');
    await call().until('session.created');
  });

  it.skipIf(!hasIpv6)('serves WebSockets over IPv6', async () => {
    const config = readConfig({ flags: { host: '[::1]', logLevel: 'silent' }, environment: {} });
    const app = await buildApp({ config, engines: fakeEngines(), characters, version: '0' });
    await app.listen({ host: config.host, port: 0 });
    const at = `[::1]:${(app.server.address() as AddressInfo).port}`;
    const client = record(new WebSocket(`ws://${at}/v1/realtime`, { origin: `http://${at}` }));
    await client.until('session.created');
    await app.close();
    expect(await client.closed).toMatchObject({ code: 1001 });
  });
});

describe('character of a session', () => {
  const stock = ['', '?model=', '?model=gpt-realtime', '?model=gpt-realtime-2.1', '?model=o4-mini', '?intent=x'];
  it('opens a session with the character that the client names, or with the default for a stock model', async () => {
    const { call } = await open({ defaultCharacter: 'abraham-lincoln' });
    for (const query of [...stock, '?model=gpt-realtime&model=alice', '?model=alice']) {
      const id = query === '?model=alice' ? 'alice' : 'abraham-lincoln';
      const { session } = await call(query).until('session.created');
      expect(session.x_dramatis.character.id, `for ${query}`).toBe(id);
    }
  });

  it('refuses an unknown character with a message and closes', async () => {
    const { call } = await open();
    for (const model of ['nobody', '__proto__', 'constructor', 'x'.repeat(2_000), '%F0%9F%8E%AD']) {
      const client = call(`?model=${model}`);
      const { error } = await client.until('error');
      expect(error, `for ${model}`).toMatchObject({ type: 'invalid_request_error', code: 'unknown_character' });
      expect(error.message).toContain('sherlock-holmes');
      expect(error.message.length, `for ${model}`).toBeLessThan(500);
      expect(await client.closed).toMatchObject({ code: 1008 });
    }
  });

  it('closes all sessions with 1001 and accepts no connection once the server stops', async () => {
    const { app, call, port } = await open();
    const clients = [call(), call('?model=alice')];
    await Promise.all(clients.map((client) => client.until('session.created')));
    await app.close();
    for (const client of clients) expect(await client.closed).toMatchObject({ code: 1001 });
    const [fault] = (await once(connect(port, '127.0.0.1'), 'error')) as [NodeJS.ErrnoException];
    expect(fault.code).toBe('ECONNREFUSED');
  });
});
