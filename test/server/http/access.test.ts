import type { IncomingHttpHeaders } from 'node:http';
import { describe, expect, it } from 'vitest';
import { accountOf } from '../../../server/config/api-keys.ts';
import { refusalOf } from '../../../server/http/access.ts';

const open = { apiKeys: [], allowedOrigins: [] };
const locked = { apiKeys: ['first-key', 'second-key'], allowedOrigins: ['https://studio.example'] };

/** The code of the refusal, or undefined where the request may be served. */
function codeOf(headers: IncomingHttpHeaders, config: Parameters<typeof refusalOf>[1] = locked): string | undefined {
  return refusalOf(headers, config)?.problem.code;
}

describe('the key of a request', () => {
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
    it(`may come as ${way}, and any of the server’s keys will do`, () => {
      expect(codeOf(headers('first-key'))).toBeUndefined();
      expect(codeOf(headers('second-key'))).toBeUndefined();
      expect(codeOf(headers('third-key'))).toBe('invalid_api_key');
    });
  }

  const wrong: [what: string, headers: IncomingHttpHeaders][] = [
    ['none', {}],
    ['an empty bearer token', { authorization: 'Bearer ' }],
    ['the beginning of a key', { authorization: 'Bearer first' }],
    ['a key and more', { authorization: 'Bearer first-key2' }],
    ['two keys at once', { authorization: 'Bearer first-key,second-key' }],
    ['another scheme', { authorization: 'Basic first-key' }],
    ['an empty subprotocol', { 'sec-websocket-protocol': 'realtime, openai-insecure-api-key.' }],
    ['a key of another length by far', { authorization: `Bearer ${'k'.repeat(10_000)}` }],
  ];
  for (const [what, headers] of wrong) {
    it(`is refused with 401 where there is ${what}`, () => {
      expect(refusalOf(headers, locked)).toMatchObject({ status: 401, problem: { code: 'invalid_api_key' } });
    });
  }

  it('is never repeated in the refusal', () => {
    const refusal = refusalOf({ authorization: 'Bearer almost-a-key' }, locked);
    expect(JSON.stringify(refusal)).not.toContain('almost-a-key');
    expect(JSON.stringify(refusal)).not.toContain('first-key');
  });

  it('is not asked for where the server has none', () => {
    expect(codeOf({}, open)).toBeUndefined();
    expect(codeOf({ authorization: 'Bearer anything' }, open)).toBeUndefined();
  });
});

describe('the origin of a request', () => {
  const key = { authorization: 'Bearer first-key' };

  it('is not asked of programs, which send none', () => {
    expect(codeOf({ host: 'voices.example', ...key })).toBeUndefined();
  });

  it('may be the host that is talked to, by the same port', () => {
    expect(codeOf({ origin: 'https://voices.example', host: 'voices.example', ...key })).toBeUndefined();
    expect(codeOf({ origin: 'http://voices.example:81', host: 'voices.example:81', ...key })).toBeUndefined();
    expect(codeOf({ origin: 'http://voices.example:82', host: 'voices.example:81', ...key })).toBe(
      'origin_not_allowed',
    );
  });

  it('may be one that is allowed by name, to the letter', () => {
    expect(codeOf({ origin: 'https://studio.example', host: 'voices.example', ...key })).toBeUndefined();
    for (const origin of ['http://studio.example', 'https://studio.example.org', 'https://studio.example:444']) {
      expect(codeOf({ origin, host: 'voices.example', ...key })).toBe('origin_not_allowed');
    }
  });

  it('may be any where the list says so', () => {
    const config = { ...open, allowedOrigins: ['*'] };
    expect(codeOf({ origin: 'https://anywhere.example', host: '127.0.0.1:8080' }, config)).toBeUndefined();
  });

  it('is refused before the key is looked at, so that a foreign page learns nothing about keys', () => {
    const refusal = refusalOf({ origin: 'https://evil.example', host: 'voices.example' }, locked);
    expect(refusal).toMatchObject({ status: 403, problem: { code: 'origin_not_allowed' } });
  });

  for (const origin of ['null', '', 'voices.example', 'file://', '://', 'https://voices.example@evil.example']) {
    it(`is refused where it is no origin of ours: "${origin}"`, () => {
      expect(codeOf({ origin, host: 'voices.example', ...key })).toBe('origin_not_allowed');
    });
  }

  for (const host of ['localhost:8080', '127.0.0.1:8080', '127.9.9.9', '[::1]:8080']) {
    it(`may be ${host} on a server without keys`, () => {
      expect(codeOf({ origin: `http://${host}`, host }, open)).toBeUndefined();
    });
  }

  it('is refused on a server without keys where a foreign name points at this machine', () => {
    const rebound = { origin: 'http://evil.example:8080', host: 'evil.example:8080' };
    expect(codeOf(rebound, open)).toBe('origin_not_allowed');
    expect(codeOf(rebound, { ...open, allowedOrigins: [rebound.origin] })).toBeUndefined();
  });
});

describe('on whose account a key is', () => {
  const entries = ['game:old-key', 'game:new-key', 'alone', 'other:old-key-2'];

  it('is the same for keys of one name, so that a key can be changed for another', () => {
    expect(['old-key', 'new-key', 'old-key-2'].map((key) => accountOf(key, entries))).toEqual([
      'game',
      'game',
      'other',
    ]);
  });

  it('is its own for a key without a name, and nobody’s for what is no key', () => {
    expect(accountOf('alone', entries)).toMatch(/^[\w-]{16}$/);
    for (const key of ['game:old-key', 'game', 'old-key-3', '']) expect(accountOf(key, entries)).toBeUndefined();
    expect(codeOf({ authorization: 'Bearer new-key' }, { ...locked, apiKeys: entries })).toBeUndefined();
  });
});
