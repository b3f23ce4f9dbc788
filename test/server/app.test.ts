import { on, once } from 'node:events';
import { get, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { readConfig } from '../../server/config.ts';
import { buildApp } from '../../server/http/app.ts';
import { builtInCharacters } from '../../server/serve.ts';
import { loadCharacters } from '../../characters/character.ts';
import { fakeEngines } from '../fakes/engines.ts';

const characters = new Map((await loadCharacters(builtInCharacters)).map((pack) => [pack.id, pack]));
const key = 'hush-hush';
const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));
const withKey = { DRAMATIS_API_KEYS: `another,${key}` };

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((app) => app.close()));
});

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

type Wire = Record<string, any>; // eslint-disable-line typescript/no-explicit-any

/** The server on fake engines and a free port; `log` holds what it logged. */
async function serve(environment: Record<string, string> = {}, host = '127.0.0.1') {
  const log: string[] = [];
  const config = readConfig({ flags: {}, environment: { DRAMATIS_LOG_LEVEL: 'debug', ...environment } });
  const parts = { config, engines: fakeEngines(), characters, version: '1.2.3' };
  const app = await buildApp({ ...parts, log: { write: (line: string) => void log.push(line) } });
  open.push(app);
  await app.listen({ host, port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const at = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return {
    app,
    at,
    log,
    /** Asks for exactly this path: `fetch` would tidy it up first. */
    ask: async (path: string, headers: Record<string, string> = {}): Promise<Answer> => {
      const [response] = (await once(get({ host, port, path, headers }), 'response')) as [IncomingMessage];
      return { status: response.statusCode ?? 0, headers: response.headers, body: await bodyOf(response) };
    },
    /** Asks for a conversation. */
    call: (query = '', headers: Record<string, string> = {}, protocols: string[] = []) =>
      new WebSocket(`ws://${at}/v1/realtime${query}`, protocols, { headers }),
  };
}

async function bodyOf(response: IncomingMessage): Promise<string> {
  return Buffer.concat((await response.toArray()) as Buffer[]).toString();
}

/** The next event of this type that comes over a socket, or the next of any type. */
async function nextEvent(socket: WebSocket, type?: string): Promise<Wire> {
  for await (const [data] of on(socket, 'message') as AsyncIterable<[Buffer]>) {
    const event = JSON.parse(data.toString()) as Wire;
    if (type === undefined || event['type'] === type) return event;
  }
  throw new Error('the socket has no more events');
}

/** How the server turns a socket away before it is one. */
async function turnedAway(socket: WebSocket): Promise<{ status: number; code: string }> {
  socket.on('error', () => undefined);
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
  const code = codeOf({ body: await bodyOf(response) });
  socket.terminate();
  return { status: response.statusCode ?? 0, code };
}

function codeOf({ body }: Pick<Answer, 'body'>): string {
  return (JSON.parse(body) as { error: { code: string } }).error.code;
}

const closeCode = async (socket: WebSocket): Promise<unknown> => (await once(socket, 'close'))[0];

describe('the page', () => {
  it('is served with a policy that allows our own files only, and keeps to it', async () => {
    const { ask } = await serve();
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
  for (const path of escapes) {
    it(`gives nothing away at ${path}`, async () => {
      const { ask } = await serve();
      const answer = await ask(path);
      expect([400, 403, 404]).toContain(answer.status);
      expect(codeOf(answer)).toMatch(/^(not_found|invalid_event)$/);
      expect(answer.body).not.toMatch(/readConfig|"dependencies"|root:/);
    });
  }
});

describe('what the server tells of itself', () => {
  it('is healthy, and says with what it serves whom, without a key', async () => {
    const { ask, call } = await serve(withKey);
    const socket = call('', { authorization: `Bearer ${key}` });
    await nextEvent(socket);
    const { status, body } = await ask('/healthz');
    expect(status).toBe(200);
    expect(JSON.parse(body)).toMatchObject({
      status: 'ok',
      version: '1.2.3',
      engines: [{ stage: 'vad', name: 'fake-vad' }],
      sessions: { active: 1, opened: 1, most: 64 },
    });
    expect(body).not.toContain(key);
  });

  it('lists the characters as models, in the shape of OpenAI’s list', async () => {
    const { ask } = await serve();
    const model = { object: 'model', created: expect.any(Number), owned_by: 'dramatis' };
    const data = [...characters.keys()].map((id) => ({ id, ...model }));
    expect(JSON.parse((await ask('/v1/models')).body)).toEqual({ object: 'list', data });
  });

  it('lists the characters with what a picker shows', async () => {
    const { ask } = await serve();
    const listed = (JSON.parse((await ask('/characters')).body) as Wire)['characters'] as Wire[];
    expect(listed.map((character) => character['id'])).toEqual([...characters.keys()]);
    for (const character of listed) {
      const shown = { name: expect.any(String), tagline: expect.any(String), languages: expect.any(Array) };
      expect(character).toMatchObject({ ...shown, greeting: expect.any(String) });
      expect(character).not.toHaveProperty('persona');
    }
  });

  for (const path of ['/nothing', '/v1/audio', '/v1/models/', '/healthz/x', '/%zz', '/v1/realtime']) {
    it(`has nothing to say at ${path}, with a code`, async () => {
      const { ask } = await serve();
      const answer = await ask(path);
      expect([400, 404]).toContain(answer.status);
      expect(codeOf(answer)).toMatch(/^(not_found|invalid_event)$/);
      expect(answer.headers['content-security-policy']).toContain("default-src 'self'");
    });
  }
});

describe('the door', () => {
  for (const path of ['/characters', '/v1/models']) {
    it(`is closed at ${path} without the key, or with another`, async () => {
      const { ask } = await serve(withKey);
      for (const headers of [{}, { authorization: 'Bearer other' }, { 'api-key': 'other' }]) {
        const answer = await ask(path, headers);
        expect([answer.status, codeOf(answer)]).toEqual([401, 'invalid_api_key']);
      }
      expect((await ask(`${path}?api_key=${key}`)).status).toBe(401);
      expect((await ask(path, { 'api-key': key })).status).toBe(200);
      expect((await ask(path, { authorization: `Bearer ${key}` })).status).toBe(200);
    });
  }

  it('is closed to conversations without the key, or with another', async () => {
    const { call } = await serve(withKey);
    const refused = { status: 401, code: 'invalid_api_key' };
    expect(await turnedAway(call())).toEqual(refused);
    expect(await turnedAway(call(`?api_key=${key}`))).toEqual(refused);
    expect(await turnedAway(call('', { authorization: 'Bearer other' }))).toEqual(refused);
    expect(await turnedAway(call('', {}, ['realtime', 'openai-insecure-api-key.other']))).toEqual(refused);
  });

  it('opens to a conversation with the key, however a client shows it', async () => {
    const { call } = await serve(withKey);
    const ways: [Record<string, string>, string[]][] = [
      [{ authorization: `Bearer ${key}` }, []],
      [{ 'api-key': key }, []],
      [{}, ['realtime', `openai-insecure-api-key.${key}`, 'openai-agents-sdk.0.20.0']],
    ];
    for (const [headers, protocols] of ways) {
      expect(await nextEvent(call('', headers, protocols))).toMatchObject({ type: 'session.created' });
    }
  });

  it('answers with no subprotocol but realtime, so that no key travels back', async () => {
    const { call } = await serve(withKey);
    const offered = [`openai-insecure-api-key.${key}`, 'realtime', 'openai-beta.realtime-v1'];
    const socket = call('', {}, offered);
    await once(socket, 'open');
    expect(socket.protocol).toBe('realtime');
    const bare = call('', { authorization: `Bearer ${key}` });
    await once(bare, 'open');
    expect(bare.protocol).toBe('');
  });

  it('is closed to pages of other origins, and open to our own and to those allowed by name', async () => {
    const { ask, at, call } = await serve({ DRAMATIS_ALLOWED_ORIGINS: 'https://studio.example' });
    const refused = { status: 403, code: 'origin_not_allowed' };
    expect(await turnedAway(call('', { origin: 'https://evil.example' }))).toEqual(refused);
    expect((await ask('/v1/models', { origin: 'https://evil.example' })).status).toBe(403);
    const rebound = { origin: 'http://evil.example', host: 'evil.example' };
    expect(await turnedAway(call('', rebound))).toEqual(refused);
    for (const origin of [`http://${at}`, 'https://studio.example']) {
      expect(await nextEvent(call('', { origin }))).toMatchObject({ type: 'session.created' });
    }
  });

  it('is closed while all sessions are taken, and opens again when one ends', async () => {
    const { ask, call } = await serve({ DRAMATIS_MAX_SESSIONS: '1' });
    const first = call();
    await nextEvent(first);
    expect(await turnedAway(call())).toEqual({ status: 503, code: 'server_busy' });
    first.close();
    await expect.poll(async () => (await ask('/healthz')).body).toContain('"active":0');
    expect(await nextEvent(call())).toMatchObject({ type: 'session.created' });
  });

  it.skipIf(!hasIpv6)('is found over IPv6 too', async () => {
    const { at, ask, call } = await serve({}, '::1');
    expect((await ask('/healthz')).status).toBe(200);
    expect(await nextEvent(call('', { origin: `http://${at}` }))).toMatchObject({ type: 'session.created' });
  });
});

describe('a conversation', () => {
  const stock = ['', '?model=', '?model=gpt-realtime', '?model=gpt-realtime-2.1', '?model=o4-mini', '?intent=x'];
  for (const query of [...stock, '?model=gpt-realtime&model=alice', '?model=alice']) {
    const id = query === '?model=alice' ? 'alice' : 'abraham-lincoln';
    it(`is with ${id} for a client that asks for "${query}"`, async () => {
      const { call } = await serve({ DRAMATIS_DEFAULT_CHARACTER: 'abraham-lincoln' });
      expect((await nextEvent(call(query)))['session']).toMatchObject({ x_dramatis: { character: { id } } });
    });
  }

  for (const model of ['nobody', '__proto__', 'constructor', 'x'.repeat(2_000), '%F0%9F%8E%AD']) {
    it(`is refused with an unknown character, in words, then closed: ${model.slice(0, 20)}`, async () => {
      const { call } = await serve();
      const socket = call(`?model=${model}`);
      const closed = closeCode(socket);
      const { type, error } = await nextEvent(socket);
      expect(type).toBe('error');
      expect(error).toMatchObject({ type: 'invalid_request_error', code: 'unknown_character' });
      expect(error.message).toContain('sherlock-holmes');
      expect(error.message.length).toBeLessThan(500);
      expect(await closed).toBe(1008);
    });
  }

  it('ends with 1001 when the server stops, and nobody is taken in any more', async () => {
    const { app, call } = await serve();
    const sockets = [call(), call('?model=alice')];
    await Promise.all(sockets.map((socket) => nextEvent(socket)));
    const codes = Promise.all(sockets.map(closeCode));
    await app.close();
    expect(await codes).toEqual([1001, 1001]);
    const late = call();
    const [fault] = (await once(late, 'error')) as [NodeJS.ErrnoException];
    expect(fault.code).toBe('ECONNREFUSED');
  });
});

describe('the log', () => {
  it('tells of sessions, and never holds a key, a query or what was said', async () => {
    const { ask, call, log } = await serve(withKey);
    await ask(`/healthz?api_key=${key}`);
    await ask(`/nothing?api_key=${key}`);
    await ask(`/%zz?api_key=${key}`);
    await ask('/v1/models', { authorization: `Bearer ${key}-wrong` });
    await turnedAway(call(`?api_key=${key}`, {}, ['realtime', `openai-insecure-api-key.${key}-wrong`]));
    const stranger = call(`?model=${key}`, { authorization: `Bearer ${key}` });
    await closeCode(stranger);
    const socket = call(`?model=alice&token=${key}`, {}, ['realtime', `openai-insecure-api-key.${key}`]);
    await nextEvent(socket);
    const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text: `my ${key}` }] };
    const events = [{ type: 'conversation.item.create', item }, { type: key }, { type: 'response.create' }];
    for (const frame of [...events.map((event) => JSON.stringify(event)), `${key} is no JSON`]) socket.send(frame);
    await nextEvent(socket, 'response.done');
    socket.close();
    await expect.poll(() => log.join('')).toContain('session closed');
    expect(log.join('')).toContain('session opened');
    expect(log.join('')).not.toContain(key);
    expect(log.join('')).not.toContain('One two three');
  });
});
