import { once } from 'node:events';
import { get } from 'node:http';
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
const withKey = { DRAMATIS_API_KEYS: `another,${key}` };

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((app) => app.close()));
});

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** The server on fake engines and a free port; `log` holds what it logged. */
async function serve(environment: Record<string, string> = {}, host = '127.0.0.1') {
  const log: string[] = [];
  const config = readConfig({ flags: {}, environment: { DRAMATIS_LOG_LEVEL: 'debug', ...environment } });
  const logTo = { write: (line: string) => void log.push(line) };
  const app = await buildApp({ config, engines: fakeEngines(), characters, version: '1.2.3', logTo });
  open.push(app);
  await app.listen({ host, port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const at = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return {
    app,
    at,
    log,
    /** Asks for exactly this path: `fetch` would tidy it up first. */
    ask: (path: string, headers: Record<string, string> = {}) =>
      new Promise<Answer>((resolve, reject) => {
        const request = get({ host, port, path, headers }, (response) => {
          let body = '';
          response.on('data', (piece: Buffer) => (body += piece.toString()));
          response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
        });
        request.on('error', reject);
      }),
    /** Asks for a conversation. */
    call: (query = '', headers: Record<string, string> = {}, protocols: string[] = []) =>
      new WebSocket(`ws://${at}/v1/realtime${query}`, protocols, { headers }),
  };
}

/** The first event that comes over a socket. */
async function firstEvent(socket: WebSocket): Promise<Record<string, any>> {
  const [data] = (await once(socket, 'message')) as [Buffer];
  return JSON.parse(data.toString()) as Record<string, any>;
}

/** How the server turns a socket away before it is one. */
async function turnedAway(socket: WebSocket): Promise<{ status: number; code: string }> {
  socket.on('error', () => undefined);
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, import('node:http').IncomingMessage];
  let body = '';
  for await (const piece of response) body += String(piece);
  socket.terminate();
  return { status: response.statusCode ?? 0, code: codeOf({ body }) };
}

function codeOf({ body }: Pick<Answer, 'body'>): string {
  return (JSON.parse(body) as { error: { code: string } }).error.code;
}

async function closeCode(socket: WebSocket): Promise<number> {
  const [code] = (await once(socket, 'close')) as [number];
  return code;
}

describe('the page', () => {
  it('is served with a policy that allows our own files only, and keeps to it', async () => {
    const { ask } = await serve();
    const page = await ask('/');
    expect(page.status).toBe(200);
    expect(page.headers['content-type']).toMatch(/^text\/html/);
    expect(page.headers['content-security-policy']).toMatch(/default-src 'self';.*frame-ancestors 'none'/);
    expect(page.headers['content-security-policy']).not.toContain('unsafe');
    expect(page.headers['x-content-type-options']).toBe('nosniff');
    expect(page.body).not.toMatch(/<script(?![^>]*\ssrc=)|\sstyle=|\son\w+=|(src|href)="(https?:)?\/\//);
    const files = [...page.body.matchAll(/(?:src|href)="(\/?web\/[^"]+|[^":#]+\.(?:js|css|svg))"/g)];
    expect(files.length).toBeGreaterThan(1);
    for (const [, file = ''] of files) {
      expect((await ask(new URL(file, 'http://host/').pathname)).status, file).toBe(200);
    }
  });

  const escapes = [
    '/web/../config.ts',
    '/web/%2e%2e/config.ts',
    '/web/..%2fconfig.ts',
    '/web/..%5cconfig.ts',
    '/web/%2e%2e%2f%2e%2e%2fpackage.json',
    '/web/....//config.ts',
    '/web//etc/passwd',
    '/web/%00',
    '/web/',
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
    await firstEvent(socket);
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
    const { object, data } = JSON.parse((await ask('/v1/models')).body) as { object: string; data: unknown[] };
    expect(object).toBe('list');
    expect(data).toHaveLength(characters.size);
    expect(data).toContainEqual({ id: 'alice', object: 'model', created: expect.any(Number), owned_by: 'dramatis' });
  });

  it('lists the characters with what a picker shows', async () => {
    const { ask } = await serve();
    const listed = JSON.parse((await ask('/characters')).body) as { characters: Record<string, unknown>[] };
    expect(listed.characters.map(({ id }) => id)).toEqual([...characters.keys()]);
    for (const character of listed.characters) {
      expect(character).toMatchObject({ name: expect.any(String), tagline: expect.any(String) });
      expect(character).toMatchObject({ languages: expect.any(Array), greeting: expect.any(String) });
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
      expect(await firstEvent(call('', headers, protocols))).toMatchObject({ type: 'session.created' });
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

  it('is closed to pages of other origins, and open to our own', async () => {
    const { ask, at, call } = await serve();
    const refused = { status: 403, code: 'origin_not_allowed' };
    expect(await turnedAway(call('', { origin: 'https://evil.example' }))).toEqual(refused);
    expect((await ask('/v1/models', { origin: 'https://evil.example' })).status).toBe(403);
    const rebound = { origin: 'http://evil.example', host: 'evil.example' };
    expect(await turnedAway(call('', rebound))).toEqual(refused);
    expect(await firstEvent(call('', { origin: `http://${at}` }))).toMatchObject({ type: 'session.created' });
  });

  it('is open to pages that are allowed by name', async () => {
    const { call } = await serve({ DRAMATIS_ALLOWED_ORIGINS: 'https://studio.example' });
    expect(await firstEvent(call('', { origin: 'https://studio.example' }))).toMatchObject({ type: 'session.created' });
  });

  it('is closed while all sessions are taken, and opens again when one ends', async () => {
    const { ask, call } = await serve({ DRAMATIS_MAX_SESSIONS: '1' });
    const first = call();
    await firstEvent(first);
    expect(await turnedAway(call())).toEqual({ status: 503, code: 'server_busy' });
    first.close();
    const active = async (): Promise<number> =>
      (JSON.parse((await ask('/healthz')).body) as { sessions: { active: number } }).sessions.active;
    await expect.poll(active).toBe(0);
    expect(await firstEvent(call())).toMatchObject({ type: 'session.created' });
  });

  it.skipIf(!Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1')))(
    'is found over IPv6 too',
    async () => {
      const { at, ask, call } = await serve({}, '::1');
      expect((await ask('/healthz')).status).toBe(200);
      expect(await firstEvent(call('', { origin: `http://${at}` }))).toMatchObject({ type: 'session.created' });
    },
  );
});

describe('a conversation', () => {
  it('is with the character that is asked for', async () => {
    const { call } = await serve();
    const { session } = await firstEvent(call('?model=alice'));
    expect(session).toMatchObject({ model: 'alice', x_dramatis: { character: { id: 'alice' } } });
  });

  const stock = ['', '?model=', '?model=gpt-realtime', '?model=gpt-realtime-2.1', '?model=gpt-4o-realtime-preview'];
  for (const query of [...stock, '?model=o4-mini', '?model=gpt-realtime&model=alice', '?intent=transcription']) {
    it(`is with the default character for a stock client that asks for "${query}"`, async () => {
      const { call } = await serve({ DRAMATIS_DEFAULT_CHARACTER: 'abraham-lincoln' });
      const { session } = await firstEvent(call(query));
      expect(session).toMatchObject({ x_dramatis: { character: { id: 'abraham-lincoln' } } });
    });
  }

  for (const model of ['nobody', '__proto__', 'constructor', 'x'.repeat(2_000), '%F0%9F%8E%AD']) {
    it(`is refused with an unknown character, in words, then closed: ${model.slice(0, 20)}`, async () => {
      const { call } = await serve();
      const socket = call(`?model=${model}`);
      const closed = closeCode(socket);
      const { type, error } = await firstEvent(socket);
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
    await Promise.all(sockets.map(firstEvent));
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
    await firstEvent(socket);
    const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text: `my ${key}` }] };
    for (const event of [{ type: 'conversation.item.create', item }, { type: key }, { type: 'response.create' }]) {
      socket.send(JSON.stringify(event));
    }
    socket.send(`${key} is no JSON`);
    for (let type = ''; type !== 'response.done'; ) type = (await firstEvent(socket))['type'] as string;
    socket.close();
    await expect.poll(() => log.join('')).toContain('session closed');
    expect(log.join('')).toContain('session opened');
    expect(log.join('')).not.toContain(key);
    expect(log.join('')).not.toContain('One two three');
  });
});
