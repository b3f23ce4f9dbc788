import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { LlmConnection } from '../../../server/engines/connected-llm.ts';
import { planEngines } from '../../../server/engines/engine-plan.ts';
import { openEngines, type Engines } from '../../../server/engines/engines.ts';
import { findLlmServers, isPrivateUrl } from '../../../server/engines/llm-servers.ts';
import { remoteRefusal } from '../../../server/http/access.ts';
import { fakeEngines } from '../../fakes/engines.ts';
import { openChatServer, says } from '../../fakes/servers/chat-server.ts';
import { openEngineServer } from '../../fakes/servers/engine-server.ts';
import { serve } from '../../rigs/serve-rig.ts';
import { testFolder } from '../../fakes/test-folder.ts';

const folder = testFolder();

/** Engines whose LLM can be replaced. */
function changeable(): Engines & { readonly connections: (LlmConnection | undefined)[] } {
  const connections: (LlmConnection | undefined)[] = [];
  return {
    ...fakeEngines(),
    connections,
    get llm() {
      const last = connections.at(-1);
      return last === undefined ? undefined : { model: last.model, host: URL.parse(last.url)?.hostname };
    },
    connectLlm: async (connection) => void connections.push(connection),
  };
}

/** Sends a request with any method. */
async function send(url: string, method: string, body?: unknown, headers: Record<string, string> = {}) {
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const given = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(url, { method, headers: { ...type, ...headers }, ...given });
  // Untyped, because each test knows the fields of its response.
  const answer: any = await response.json();
  return { status: response.status, body: answer };
}

const routes: [method: string, path: string, body?: unknown][] = [
  ['GET', '/llm'],
  ['GET', '/llm/servers'],
  ['POST', '/llm/models', { url: 'http://127.0.0.1:9/v1' }],
  ['POST', '/llm/test', { url: 'http://127.0.0.1:9/v1', model: 'any' }],
  ['PUT', '/llm', { url: 'http://127.0.0.1:9/v1', model: 'any' }],
  ['DELETE', '/llm'],
];

describe('access to the LLM settings', () => {
  it.each(routes)('refuses a client secret, a wrong key and no key: %s %s', async (method, route, body) => {
    const engines = changeable();
    const server = await serve({ engines, flags: { apiKeys: 'server-key', dataDir: folder } });
    const made = await server.ask('/v1/realtime/client_secrets', { key: 'server-key', body: {} });
    const of = async (key?: string) => {
      const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
      const { status, body: answer } = await send(server.url + route, method, body, headers);
      return [status, answer.error.code];
    };
    expect(await of(made.body.value as string)).toEqual([403, 'server_key_needed']);
    expect(await of('wrong')).toEqual([401, 'invalid_api_key']);
    expect(await of()).toEqual([401, 'invalid_api_key']);
    expect(engines.connections).toEqual([]);
  });

  it.each(routes)(
    'refuses another page and a proxy in front of a server without keys: %s %s',
    async (method, route, body) => {
      const engines = changeable();
      const server = await serve({ engines, flags: { allowedOrigins: '*', dataDir: folder } });
      for (const headers of [{ origin: 'https://evil.example' }, { 'x-forwarded-for': '203.0.113.7' }]) {
        const { status, body: answer } = await send(server.url + route, method, body, headers);
        expect([status, answer.error.code]).toEqual([403, 'server_key_needed']);
      }
      expect(engines.connections).toEqual([]);
    },
  );

  it('serves a server key, and the own page and machine of a server without keys', async () => {
    const keyed = await serve({ engines: changeable(), flags: { apiKeys: 'server-key', dataDir: folder } });
    expect(await keyed.ask('/llm', { key: 'server-key' })).toMatchObject({ status: 200, body: { model: null } });
    const open = await serve({ engines: changeable(), flags: { dataDir: folder } });
    expect(await open.ask('/llm', { headers: { origin: open.url } })).toMatchObject({ status: 200 });
    expect(await open.ask('/llm')).toMatchObject({ status: 200, body: { model: null, host: null } });
  });

  it('refuses a request without a key that comes from another address', () => {
    const own = { host: 'localhost:8080' };
    expect(remoteRefusal(own, '127.0.0.1', { apiKeys: [] })).toBeUndefined();
    expect(remoteRefusal(own, '::ffff:127.0.0.1', { apiKeys: [] })).toBeUndefined();
    expect(remoteRefusal(own, '192.168.1.5', { apiKeys: [] })?.status).toBe(403);
    expect(remoteRefusal(own, undefined, { apiKeys: [] })?.status).toBe(403);
    expect(remoteRefusal({ host: 'voices.example' }, '127.0.0.1', { apiKeys: [] })?.status).toBe(403);
  });
});

describe('addresses of LLM servers', () => {
  it.each([
    ['http://127.0.0.1:11434/v1', true],
    ['http://localhost:1234/v1', true],
    ['http://[::1]:8000/v1', true],
    ['https://192.168.1.20/v1', true],
    ['http://10.1.2.3:8080/v1', true],
    ['http://172.31.0.9/v1', true],
    ['http://[fd00::1]/v1', true],
    ['http://172.32.0.1/v1', false],
    ['http://8.8.8.8/v1', false],
    ['http://169.254.169.254/latest', false],
    ['http://0.0.0.0:11434/v1', false],
    ['http://2130706433:11434/v1', true],
    ['http://[::ffff:8.8.8.8]/v1', false],
    ['http://example.com/v1', false],
    ['http://printer.local/v1', false],
    ['http://localhost.evil.example/v1', false],
    ['http://127.0.0.1@evil.example/v1', false],
    ['http://user:word@127.0.0.1/v1', false],
    ['file:///etc/passwd', false],
    ['ftp://127.0.0.1/', false],
    ['nonsense', false],
  ])('asks only this machine and private networks: %s → %s', (url, allowed) => {
    expect(isPrivateUrl(url)).toBe(allowed);
  });

  it('names the field if the address of an LLM server is not allowed', async () => {
    const { ask } = await serve({ engines: changeable(), flags: { dataDir: folder } });
    const answer = await ask('/llm/models', { body: { url: 'http://169.254.169.254/v1' } });
    expect(answer).toMatchObject({ status: 400, body: { error: { param: 'url' } } });
    expect(await ask('/llm/models', { body: { url: `http://127.0.0.1/${'x'.repeat(5_000)}` } })).toMatchObject({
      status: 413,
    });
  });
});

describe('GET /llm/servers and POST /llm/models', () => {
  const models = (...ids: string[]) => ({
    'GET /v1/models': () => ({ status: 200, body: JSON.stringify({ data: ids.map((id) => ({ id })) }) }),
  });

  it('finds the LLM servers that list models and leaves out those that are closed, or another Dramatis', async () => {
    await using first = await openEngineServer(models('llama3.1:8b', 'qwen3'));
    const dramatis = await serve();
    const ports = [
      { name: 'Ollama', port: Number(new URL(first.url).port) },
      { name: 'LM Studio', port: 1 },
      { name: 'llama.cpp', port: dramatis.port },
    ];
    expect(await findLlmServers(new AbortController().signal, ports)).toEqual([
      { name: 'Ollama', url: `${first.url.replace('localhost', '127.0.0.1')}/v1`, models: ['llama3.1:8b', 'qwen3'] },
    ]);
  });

  it('sends the key, and refuses a redirect and a list that is too large', async () => {
    await using server = await openEngineServer({
      ...models('m'),
      'GET /away/models': () => ({ status: 302, headers: { location: '/v1/models' }, body: '' }),
      'GET /large/models': () => ({ status: 200, body: JSON.stringify({ data: [{ id: 'x'.repeat(1_100_000) }] }) }),
      'GET /closed/models': () => ({ status: 401, body: '{}' }),
    });
    const { ask } = await serve({ engines: changeable(), flags: { dataDir: folder } });
    const list = async (at: string) => ask('/llm/models', { body: { url: `${server.url}/${at}`, key: 'a-key' } });
    expect((await list('v1')).body).toEqual({ models: ['m'] });
    expect(server.requests.at(-1)?.headers['authorization']).toBe('Bearer a-key');
    expect(await list('away')).toMatchObject({ status: 503, body: { error: { code: 'ENGINE_UNAVAILABLE' } } });
    expect(await list('large')).toMatchObject({ status: 502, body: { error: { code: 'ENGINE_BAD_REPLY' } } });
    expect(await list('closed')).toMatchObject({ status: 502, body: { error: { code: 'ENGINE_REFUSED' } } });
    expect(server.requests.map((request) => request.path)).toEqual([
      '/v1/models',
      '/away/models',
      '/large/models',
      '/closed/models',
    ]);
  });
});

describe('PUT /llm and DELETE /llm', () => {
  it('connects an LLM that has said something, and saves it for the next start without its key', async () => {
    await using chat = await openChatServer(says(['Hello ', 'there.']));
    const dataDir = path.join(folder, 'kept');
    const engines = changeable();
    const server = await serve({ engines, flags: { dataDir } });
    const connection = { url: chat.baseUrl, model: 'llama3.1:8b', key: 'secret-key' };
    const tested = await send(`${server.url}/llm/test`, 'POST', connection);
    expect(tested.body).toMatchObject({ text: 'Hello there.', ms: expect.any(Number) });
    const put = await send(`${server.url}/llm`, 'PUT', connection);
    expect(put).toEqual({ status: 200, body: { model: 'llama3.1:8b', host: '127.0.0.1' } });
    expect(engines.connections).toEqual([connection]);
    expect(chat.requests.at(-1)?.authorization).toBe('Bearer secret-key');
    const file = path.join(dataDir, 'connected-llm.json');
    expect(await readFile(file, 'utf8')).not.toContain('secret-key');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const environment = { DRAMATIS_LLM_API_KEY: 'from-the-environment' };
    expect(planEngines({ dataDir }, environment).llm).toMatchObject([
      { kind: 'openai-chat', settings: { baseUrl: chat.baseUrl, model: 'llama3.1:8b' }, key: 'from-the-environment' },
    ]);
    expect(planEngines({ dataDir, llm: ['retrieval'] }).llm.map(({ name }) => name)).toEqual(['retrieval']);
    expect(server.log.join('\n')).not.toContain('secret-key');
    await send(`${server.url}/llm`, 'DELETE');
    expect(engines.connections.at(-1)).toBeUndefined();
    expect(planEngines({ dataDir }).llm.map(({ name }) => name)).toEqual(['retrieval']);
  });

  it('keeps the present LLM if the new one fails its test', async () => {
    const dataDir = path.join(folder, 'refused');
    const engines = changeable();
    const server = await serve({ engines, flags: { dataDir } });
    const put = await send(`${server.url}/llm`, 'PUT', { url: 'http://127.0.0.1:1/v1', model: 'any' });
    expect(put).toMatchObject({ status: 503, body: { error: { code: 'ENGINE_UNAVAILABLE' } } });
    expect(engines.connections).toEqual([]);
    expect(await readdir(dataDir).catch(() => [])).toEqual([]);
  });
});

describe('an LLM connected while the engines run', () => {
  it('replies in conversations opened from then on, until it is disconnected', async () => {
    await using chat = await openChatServer(says(['A violin is never done.']));
    const engines = await openEngines({});
    try {
      const server = await serve({ engines, flags: { dataDir: folder } });
      const speak = async () => {
        const client = server.call('?model=sherlock-holmes');
        await client.until('session.created');
        const content = [{ type: 'input_text', text: 'Do you play an instrument?' }];
        client.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } });
        client.send({ type: 'response.create', response: { output_modalities: ['text'] } });
        const { response } = await client.until('response.done');
        client.socket.terminate();
        return response.output[0].content[0].text as string;
      };
      expect(await speak()).not.toContain('never done');
      await engines.connectLlm?.({ url: chat.baseUrl, model: 'in-test' });
      expect(engines.llm).toEqual({ model: 'in-test', host: '127.0.0.1' });
      expect(await speak()).toContain('A violin is never done.');
      await engines.connectLlm?.(undefined);
      expect(engines.llm).toBeUndefined();
      expect(await speak()).not.toContain('never done');
    } finally {
      await engines.close();
    }
  });
});
