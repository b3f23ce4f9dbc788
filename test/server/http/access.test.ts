import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { describe, expect, it } from 'vitest';
import { accountOf } from '../../../server/config/api-keys.ts';
import { readConfig } from '../../../server/config/config.ts';
import { refusalOf } from '../../../server/http/access.ts';
import { createAuthGuard } from '../../../server/http/auth-guard.ts';
import { ClientSecrets } from '../../../server/http/client-secrets.ts';
import { LiveSessions } from '../../../server/http/live-sessions.ts';

const open = { apiKeys: [], allowedOrigins: [], allowedHosts: [] };
const locked = { apiKeys: ['first-key', 'second-key'], allowedOrigins: ['https://studio.example'], allowedHosts: [] };

/** The code of the refusal; undefined if the request may be served. */
function codeOf(headers: IncomingHttpHeaders, config: Parameters<typeof refusalOf>[1] = locked): string | undefined {
  return refusalOf(headers, config)?.problem.code;
}

describe('API key', () => {
  const ways: [way: string, headers: (key: string) => IncomingHttpHeaders][] = [
    ['a bearer token', (key) => ({ authorization: `Bearer ${key}` })],
    ['a bearer token in any case', (key) => ({ authorization: `bearer   ${key}` })],
    ['Azure’s header', (key) => ({ 'api-key': key })],
    [
      'a subprotocol',
      (key) => ({
        'sec-websocket-protocol': `realtime, openai-insecure-api-key.${key}, openai-agents-sdk.0.20.0`,
      }),
    ],
  ];
  for (const [way, headers] of ways) {
    it(`accepts any of the server’s API keys as ${way}`, () => {
      expect(codeOf(headers('first-key'))).toBeUndefined();
      expect(codeOf(headers('second-key'))).toBeUndefined();
      expect(codeOf(headers('third-key'))).toBe('invalid_api_key');
    });
  }

  const wrong: [what: string, headers: IncomingHttpHeaders][] = [
    ['missing', {}],
    ['an empty bearer token', { authorization: 'Bearer ' }],
    ['the beginning of a key', { authorization: 'Bearer first' }],
    ['a key with a suffix', { authorization: 'Bearer first-key2' }],
    ['two keys at once', { authorization: 'Bearer first-key,second-key' }],
    ['in another scheme', { authorization: 'Basic first-key' }],
    ['an empty subprotocol', { 'sec-websocket-protocol': 'realtime, openai-insecure-api-key.' }],
    ['much longer', { authorization: `Bearer ${'k'.repeat(10_000)}` }],
  ];
  for (const [what, headers] of wrong) {
    it(`refuses a request with 401 if its API key is ${what}`, () => {
      expect(refusalOf(headers, locked)).toMatchObject({ status: 401, problem: { code: 'invalid_api_key' } });
    });
  }

  it('never repeats an API key in the refusal', () => {
    const refusal = refusalOf({ authorization: 'Bearer almost-a-key' }, locked);
    expect(JSON.stringify(refusal)).not.toContain('almost-a-key');
    expect(JSON.stringify(refusal)).not.toContain('first-key');
  });

  it('requires no API key if the server has none', () => {
    expect(codeOf({}, open)).toBeUndefined();
    expect(codeOf({ authorization: 'Bearer anything' }, open)).toBeUndefined();
  });
});

describe('origin', () => {
  const key = { authorization: 'Bearer first-key' };

  it('accepts programs, which send no origin', () => {
    expect(codeOf({ host: 'voices.example', ...key })).toBeUndefined();
  });

  it('accepts the origin of the requested host with the same port', () => {
    expect(codeOf({ origin: 'https://voices.example', host: 'voices.example', ...key })).toBeUndefined();
    expect(codeOf({ origin: 'http://voices.example:81', host: 'voices.example:81', ...key })).toBeUndefined();
    expect(codeOf({ origin: 'http://voices.example:82', host: 'voices.example:81', ...key })).toBe(
      'origin_not_allowed',
    );
  });

  it('accepts an origin that is allowed by its exact name', () => {
    expect(codeOf({ origin: 'https://studio.example', host: 'voices.example', ...key })).toBeUndefined();
    for (const origin of ['http://studio.example', 'https://studio.example.org', 'https://studio.example:444']) {
      expect(codeOf({ origin, host: 'voices.example', ...key })).toBe('origin_not_allowed');
    }
  });

  it('accepts any origin if the list says so', () => {
    const config = { ...open, allowedOrigins: ['*'] };
    expect(codeOf({ origin: 'https://anywhere.example', host: '127.0.0.1:8080' }, config)).toBeUndefined();
  });

  it('refuses a foreign origin before it checks the API key', () => {
    const refusal = refusalOf({ origin: 'https://evil.example', host: 'voices.example' }, locked);
    expect(refusal).toMatchObject({ status: 403, problem: { code: 'origin_not_allowed' } });
  });

  for (const origin of ['null', '', 'voices.example', 'file://', '://', 'https://voices.example@evil.example']) {
    it(`refuses the foreign origin "${origin}"`, () => {
      expect(codeOf({ origin, host: 'voices.example', ...key })).toBe('origin_not_allowed');
    });
  }

  for (const host of ['localhost:8080', '127.0.0.1:8080', '127.9.9.9', '[::1]:8080']) {
    it(`accepts the origin ${host} on a server without API keys`, () => {
      expect(codeOf({ origin: `http://${host}`, host }, open)).toBeUndefined();
    });
  }

  it('refuses a foreign name that resolves to this machine on a server without API keys', () => {
    const rebound = { origin: 'http://evil.example:8080', host: 'evil.example:8080' };
    expect(codeOf(rebound, open)).toBe('origin_not_allowed');
    expect(codeOf(rebound, { ...open, allowedOrigins: [rebound.origin] })).toBeUndefined();
  });
});

describe('accountOf', () => {
  const entries = ['game:old-key', 'game:new-key', 'alone', 'other:old-key-2'];

  it('gives API keys of one name the same account', () => {
    expect(['old-key', 'new-key', 'old-key-2'].map((key) => accountOf(key, entries))).toEqual([
      'game',
      'game',
      'other',
    ]);
  });

  it('gives an unnamed API key its own account and an unknown key none', () => {
    expect(accountOf('alone', entries)).toMatch(/^[\w-]{16}$/);
    for (const key of ['game:old-key', 'game', 'old-key-3', '']) expect(accountOf(key, entries)).toBeUndefined();
    expect(codeOf({ authorization: 'Bearer new-key' }, { ...locked, apiKeys: entries })).toBeUndefined();
  });
});

describe('a request whose client has left already', () => {
  it('comes from no machine, and is no fault of the server', () => {
    const config = readConfig({ flags: { apiKeys: 'key-of-the-first-account' }, environment: {} });
    const parts = {
      config,
      secrets: new ClientSecrets(),
      sessions: new LiveSessions(config),
      isResumable: () => false,
    };
    const request = { headers: {}, ip: undefined } as unknown as FastifyRequest;
    expect(createAuthGuard(parts).isInsider(request)).toBe(false);
  });
});
