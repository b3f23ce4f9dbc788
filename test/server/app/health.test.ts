import { describe, expect, it } from 'vitest';
import { serve } from '../../rigs/serve-rig.ts';

const key = 'key-of-the-first-account';

describe('/healthz', () => {
  it('reports to clients without a key only that the server is up', async () => {
    // The forwarded address is that of the client.
    const { ask, sessions } = await serve({ flags: { apiKeys: key, trustProxy: '1' } });
    const headers = { 'x-forwarded-for': '192.0.2.1' };
    expect(await ask('/healthz', { headers })).toMatchObject({ status: 200 });
    expect((await ask('/healthz', { headers })).body).toEqual({ status: 'ok' });
    expect((await ask('/healthz', { headers, key: 'guess' })).body).toEqual({ status: 'ok' });
    await sessions.drain(0);
    expect(await ask('/healthz', { headers })).toMatchObject({ status: 503, body: { status: 'draining' } });
  });

  it('reports nothing else through a proxy on this machine that is not configured', async () => {
    const { ask } = await serve({ flags: { apiKeys: key } });
    expect((await ask('/healthz', { headers: { 'x-forwarded-for': '192.0.2.1' } })).body).toEqual({ status: 'ok' });
  });

  it('reports version, engines and sessions to this machine, and to clients with a key or a client secret', async () => {
    const { ask } = await serve({ flags: { apiKeys: key, trustProxy: '1' } });
    const { body: made } = await ask('/v1/realtime/client_secrets', { key, body: {} });
    const headers = { 'x-forwarded-for': '192.0.2.1' };
    for (const options of [{}, { headers, key }, { headers, key: made.value as string }])
      expect((await ask('/healthz', options)).body).toMatchObject({ version: '0', sessions: { active: 0 } });
  });

  it('cannot be used to try keys without throttling', async () => {
    const { ask } = await serve({ flags: { apiKeys: key, trustProxy: '1' } });
    const headers = { 'x-forwarded-for': '192.0.2.1' };
    for (let count = 0; count < 31; count += 1) await ask('/healthz', { headers, key: `guess-${count}` });
    expect((await ask('/healthz', { headers, key })).body).toEqual({ status: 'ok' });
  });
});
