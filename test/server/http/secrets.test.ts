import { afterEach, describe, expect, it, vi } from 'vitest';
import OpenAI from 'openai';
import { ClientSecrets } from '../../../server/http/client-secrets.ts';
import { characters, serve } from '../../rigs/serve-rig.ts';

const key = 'server-key';
const keyed = { flags: { apiKeys: key } };
const path = '/v1/realtime/client_secrets';
const bearer = (value: string): Record<string, string> => ({ authorization: `Bearer ${value}` });

afterEach(() => void vi.useRealTimers());

/** Makes one secret. */
async function issue(server: Awaited<ReturnType<typeof serve>>, body: unknown = {}): Promise<string> {
  const answer = await server.ask(path, { key, body });
  expect(answer.status).toBe(200);
  return answer.body.value as string;
}

describe('POST /v1/realtime/client_secrets', () => {
  it('returns the client secret, its expiry and the whole session it stands for', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_700_000_000_000 });
    const server = await serve(keyed);
    const session = { type: 'realtime', model: 'alice', instructions: 'It rains.', audio: { output: { speed: 1.2 } } };
    const body = { expires_after: { anchor: 'created_at', seconds: 60 }, session };
    const answer = await server.ask(path, { key, body });
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.body).toMatchObject({
      value: expect.stringMatching(/^ek_[\w-]{43}$/),
      expires_at: 1_700_000_060,
      session: {
        id: expect.stringMatching(/^sess_/),
        object: 'realtime.session',
        type: 'realtime',
        model: 'alice',
        instructions: 'It rains.',
        output_modalities: ['audio'],
        audio: { output: { speed: 1.2, voice: 'alice' } },
      },
    });
  });

  it('defaults to ten minutes and the default character', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_700_000_000_000 });
    const { ask } = await serve(keyed);
    const { body } = await ask(path, { key, body: {} });
    expect(body).toMatchObject({ expires_at: 1_700_000_600, session: { model: 'sherlock-holmes' } });
  });

  it('requires a server key, not a client secret, to create a client secret', async () => {
    const server = await serve(keyed);
    expect(await server.ask(path, { body: {} })).toMatchObject({
      status: 401,
      body: { error: { code: 'invalid_api_key' } },
    });
    const secret = await issue(server);
    expect(await server.ask(path, { key: secret, body: {} })).toMatchObject({
      status: 403,
      body: { error: { code: 'server_key_needed' } },
    });
  });

  it('creates client secrets without a key on a loopback server that has none', async () => {
    const { ask, call } = await serve();
    const { body } = await ask(path, { body: { session: { model: 'alice' } } });
    const wire = call('', bearer(body.value));
    expect((await wire.until('session.created'))['session']).toMatchObject({
      x_dramatis: { character: { id: 'alice' } },
    });
  });

  const bad: [what: string, body: unknown, status: number, code: string, param: string][] = [
    ['too short a lifetime', { expires_after: { seconds: 9 } }, 400, 'invalid_value', 'expires_after.seconds'],
    ['too long a lifetime', { expires_after: { seconds: 7_201 } }, 400, 'invalid_value', 'expires_after.seconds'],
    ['another anchor', { expires_after: { anchor: 'used_at' } }, 400, 'invalid_value', 'expires_after.anchor'],
    ['an unknown character', { session: { model: 'nobody' } }, 404, 'unknown_character', 'session.model'],
    [
      'a bad setting',
      { session: { audio: { output: { speed: 9 } } } },
      400,
      'invalid_value',
      'session.audio.output.speed',
    ],
    ['a body that is not an object', [], 400, 'invalid_event', ''],
  ];
  it('refuses an invalid client secret and names the field', async () => {
    const { ask } = await serve(keyed);
    for (const [what, body, status, code, param] of bad) {
      const answer = await ask(path, { key, body });
      expect([answer.status, answer.body.error.code, answer.body.error.param ?? ''], `with ${what}`).toEqual([
        status,
        code,
        param,
      ]);
    }
  });

  it('creates a client secret for the stock client', async () => {
    const server = await serve(keyed);
    const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: key });
    const made = await client.realtime.clientSecrets.create({
      expires_after: { anchor: 'created_at', seconds: 30 },
      session: { type: 'realtime', model: 'gpt-realtime', instructions: 'At sea.' },
    });
    expect(made.session).toMatchObject({ type: 'realtime', instructions: 'At sea.' });
    await server.call('?model=gpt-realtime', bearer(made.value)).until('session.created');
  });
});

describe('client secret', () => {
  it('opens several sessions with one client secret, all with its settings', async () => {
    const server = await serve(keyed);
    const secret = await issue(server, { session: { model: 'alice', instructions: 'A mad tea-party.' } });
    const wires = [
      server.call('', bearer(secret)),
      server.call('?model=gpt-realtime', {}, ['realtime', `openai-insecure-api-key.${secret}`]),
      server.call('?model=alice', bearer(secret)),
    ];
    for (const wire of wires) {
      expect((await wire.until('session.created'))['session']).toMatchObject({
        instructions: 'A mad tea-party.',
        x_dramatis: { character: { id: 'alice' } },
      });
    }
  });

  it('lets a client with a secret change the session but not the character', async () => {
    const server = await serve(keyed);
    const secret = await issue(server, { session: { model: 'alice', instructions: 'A mad tea-party.' } });
    const wire = server.call('', bearer(secret));
    await wire.until('session.created');
    wire.send({
      type: 'session.update',
      session: { type: 'realtime', model: 'sherlock-holmes', instructions: 'A trial.' },
    });
    expect((await wire.until('session.updated'))['session']).toMatchObject({
      instructions: 'A trial.',
      x_dramatis: { character: { id: 'alice' } },
      audio: { output: { voice: 'alice' } },
    });
    for (const model of ['sherlock-holmes', 'nobody']) {
      const other = server.call(`?model=${model}`, bearer(secret));
      expect((await other.until('error'))['error']).toMatchObject({ code: 'character_not_allowed' });
      expect((await other.closed).code).toBe(1008);
    }
  });

  it('opens no session with an expired client secret and keeps those already open', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const server = await serve(keyed);
    const secret = await issue(server, { expires_after: { seconds: 10 } });
    const wire = server.call('', bearer(secret));
    await wire.until('session.created');
    vi.setSystemTime(Date.now() + 10_000);
    const late = await server.call('', bearer(secret)).refused;
    expect(late).toMatchObject({ status: 401, code: 'client_secret_expired' });
    wire.send({ type: 'session.update', session: { instructions: 'Still here.' } });
    await wire.until('session.updated');
  });

  it('refuses a client secret for anything but sessions', async () => {
    const server = await serve(keyed);
    const secret = await issue(server);
    const requests: [string, unknown?][] = [
      ['/v1/models'],
      ['/characters'],
      ['/v1/chat/completions', { messages: [{ role: 'user', content: 'Hi' }] }],
      ['/v1/audio/speech', { input: 'Hi', voice: 'alice' }],
    ];
    for (const [place, body] of requests) {
      const answer = await server.ask(place, { key: secret, ...(body === undefined ? {} : { body }) });
      expect([place, answer.status, answer.body.error.code]).toEqual([place, 403, 'server_key_needed']);
    }
  });

  it('refuses an invented client secret, even on a server without keys', async () => {
    for (const options of [{}, keyed]) {
      const { call } = await serve(options);
      const refused = await call('', bearer(`ek_${'A'.repeat(43)}`)).refused;
      expect(refused).toMatchObject({ status: 401, code: 'client_secret_expired' });
    }
  });

  it('applies the origin check to a client secret', async () => {
    const server = await serve(keyed);
    const secret = await issue(server);
    const refused = await server.call('', { ...bearer(secret), origin: 'https://evil.example' }).refused;
    expect(refused).toMatchObject({ status: 403, code: 'origin_not_allowed' });
  });

  it('never logs a client secret', async () => {
    const server = await serve(keyed);
    const secret = await issue(server, { session: { instructions: 'whispered words' } });
    await server.call('', bearer(secret)).until('session.created');
    await server.call('', {}, ['realtime', `openai-insecure-api-key.${secret}`]).until('session.created');
    await server.call(`?api_key=${secret}`).refused;
    await server.ask(`/v1/models?key=${secret}`, { key: secret });
    const log = server.log.join('');
    expect(log).toContain('client secret made');
    expect(log).toContain('request refused');
    for (const content of [secret, secret.slice(3), key, 'whispered']) expect(log).not.toContain(content);
  });
});

describe('ClientSecrets', () => {
  const secret = { character: [...characters.values()][0]!, startWith: undefined, owner: undefined };

  it('removes expired client secrets', () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const secrets = new ClientSecrets();
    for (let count = 0; count < 5; count += 1) secrets.issue({ ...secret, expiresAtMs: Date.now() + 1_000 });
    expect(secrets.size).toBe(5);
    vi.setSystemTime(Date.now() + 1_000);
    secrets.issue({ ...secret, expiresAtMs: Date.now() + 1_000 });
    expect(secrets.size).toBe(1);
  });

  it('never issues the same client secret twice and refuses more than it has room for', () => {
    const secrets = new ClientSecrets();
    const values = new Set<string>();
    const issue = (): string | undefined => secrets.issue({ ...secret, expiresAtMs: Date.now() + 60_000 });
    for (let value = issue(); value !== undefined; value = issue()) values.add(value);
    expect([secrets.size, values.size]).toEqual([32_768, 32_768]);
    const [first = ''] = values;
    secrets.revoke(first);
    expect(secrets.find(first)).toBeUndefined();
    expect(issue()).toBeDefined();
  });
});
