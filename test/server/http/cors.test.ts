import { describe, expect, it } from 'vitest';
import { serve } from '../../rigs/serve-rig.ts';

const origin = 'https://game.example';
const evil = 'https://evil.example';
const flags = { apiKeys: 'key', allowedOrigins: origin };

const posts = [
  '/v1/realtime/client_secrets',
  '/v1/realtime/sessions',
  '/v1/realtime/calls',
  '/v1/realtime/calls/rtc_1/hangup',
  '/v1/chat/completions',
  '/v1/audio/speech',
  '/v1/audio/transcriptions',
];
const gets = ['/v1/models', '/characters', '/healthz', '/client/open-talk.js'];

/** The preflight request of a browser. */
function preflight(url: string, from: string, method: string): Promise<Response> {
  const headers = {
    origin: from,
    'access-control-request-method': method,
    'access-control-request-headers': 'authorization,content-type',
  };
  return fetch(url, { method: 'OPTIONS', headers });
}

describe('allowed origin', () => {
  it('answers the preflight of an allowed origin on every path', async () => {
    const { url } = await serve({ flags });
    for (const [method, paths] of [['POST', posts] as const, ['GET', gets] as const])
      for (const path of paths) {
        const { status, headers } = await preflight(`${url}${path}`, origin, method);
        expect(status, `at ${path}`).toBe(204);
        expect(Object.fromEntries(headers), `at ${path}`).toMatchObject({
          'access-control-allow-origin': origin,
          'access-control-allow-headers': 'authorization,content-type',
          'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
          'access-control-max-age': '600',
          vary: 'origin',
        });
      }
  });

  it('lets a page of an allowed origin read answers, headers and errors', async () => {
    const { ask } = await serve({ flags });
    const headers = { origin };
    const made = await ask('/v1/realtime/client_secrets', { key: 'key', body: {}, headers });
    expect([made.status, made.headers.get('access-control-allow-origin')]).toEqual([200, origin]);
    expect(made.headers.get('access-control-expose-headers')).toBe('etag, location, retry-after, x-dramatis-unclear');
    const refused = await ask('/v1/chat/completions', { key: 'wrong', body: {}, headers });
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([401, origin]);
    const missing = await ask('/v1/nothing', { key: 'key', headers });
    expect([missing.status, missing.headers.get('access-control-allow-origin')]).toEqual([404, origin]);
  });

  it('lets a page of an allowed origin read a streamed reply', async () => {
    const { url } = await serve({ flags });
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { origin, authorization: 'Bearer key', 'content-type': 'application/json' },
      body: JSON.stringify({ stream: true, messages: [{ role: 'user', content: 'Hello' }] }),
    });
    expect(response.headers.get('access-control-allow-origin')).toBe(origin);
    expect(await response.text()).toContain('[DONE]');
  });

  it('requires the API key after a preflight and allows no cookies', async () => {
    const { url, ask } = await serve({ flags });
    const { headers } = await preflight(`${url}/v1/models`, origin, 'GET');
    expect(headers.get('access-control-allow-credentials')).toBeNull();
    expect((await ask('/v1/models', { headers: { origin } })).status).toBe(401);
  });

  it('accepts any origin if all are allowed', async () => {
    const { url } = await serve({ flags: { apiKeys: 'key', allowedOrigins: '*' } });
    const { headers } = await preflight(`${url}/v1/chat/completions`, evil, 'POST');
    expect(headers.get('access-control-allow-origin')).toBe(evil);
  });
});

describe('foreign origin', () => {
  it('refuses the preflight of a foreign origin on every path', async () => {
    const { url } = await serve({ flags });
    for (const path of [...posts, ...gets]) {
      const response = await preflight(`${url}${path}`, evil, 'POST');
      expect([response.status, response.headers.get('access-control-allow-origin')], `at ${path}`).toEqual([403, null]);
      expect(await response.json(), `at ${path}`).toMatchObject({ error: { code: 'origin_not_allowed' } });
    }
  });

  it('lets a page of a foreign origin read nothing, not even /healthz', async () => {
    const { ask } = await serve({ flags });
    const { headers } = await ask('/healthz', { headers: { origin: evil } });
    expect([headers.get('access-control-allow-origin'), headers.get('vary')]).toEqual([null, 'origin']);
  });

  it('copies no invalid value of the request into the CORS headers', async () => {
    const { url } = await serve({ flags });
    const headers = { origin, 'access-control-request-headers': 'x; y=<script>' };
    const response = await fetch(`${url}/v1/models`, { method: 'OPTIONS', headers });
    expect(response.headers.get('access-control-allow-headers')).toBe('');
  });
});
