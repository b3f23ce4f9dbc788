import { describe, expect, it } from 'vitest';
import { limits } from '../../../server/limits/limits.ts';
import { serve } from '../../rigs/serve-rig.ts';

const [one, other] = ['key-of-the-first-account', 'key-of-the-other-account'];
const keyed = { flags: { apiKeys: `${one},${other}` } };
const path = '/v1/realtime/client_secrets';
/** A session of three quarters of the largest size. */
const tools = [{ type: 'function', name: 'look', description: 'x'.repeat((limits.clientSecretBytes.value * 3) / 4) }];
const session = { model: 'alice', tools };

describe('a hostile maker of client secrets', () => {
  it('cannot keep fields that the server does not know in a client secret', async () => {
    const server = await serve(keyed);
    const filler = 'x'.repeat(50_000);
    const session = { model: 'alice', filler, x_dramatis: {} };
    const body = { filler, expires_after: { seconds: 60, filler: 'x' }, session };
    const plain = await server.ask(path, { key: one, body: { session: { model: 'alice', x_dramatis: {} } } });
    const held = server.secrets.bytes;
    const made = await server.ask(path, { key: one, body });
    expect([plain.status, made.status]).toEqual([200, 200]);
    expect(server.secrets.bytes).toBe(2 * held);
  });

  it('learns that the session of a client secret is too large', async () => {
    const server = await serve(keyed);
    const large = [...tools, { ...tools[0], name: 'listen' }];
    const made = await server.ask(path, { key: one, body: { session: { model: 'alice', tools: large } } });
    expect(made).toMatchObject({ status: 400, body: { error: { code: 'text_too_long', param: 'session' } } });
    expect(made.body.error.message).toContain('65,536 bytes');
    expect(server.secrets.bytes).toBe(0);
  });

  it('has a body over the limit of this request refused before it is parsed', async () => {
    const { ask } = await serve(keyed);
    const body = { filler: 'x'.repeat(limits.clientSecretBodyBytes.value) };
    const { status, body: answer } = await ask(path, { key: one, body });
    expect([status, answer.error.code]).toEqual([413, 'message_too_large']);
  });

  it('fills the share of its own key, and no other key loses a client secret or the room for one', async () => {
    const server = await serve(keyed);
    const { body: kept } = await server.ask(path, { key: other, body: { session: { model: 'alice' } } });
    const { owner } = server.secrets.find(kept.value) ?? {};
    const account = (await server.ask(path, { key: one, body: {} })).body.value as string;
    const secret = server.secrets.find(account);
    if (secret === undefined) throw new Error('no secret was made');
    expect(secret.owner).not.toBe(owner);
    server.secrets.issue(secret, limits.clientSecretsBytesPerKey.value - 4 * limits.clientSecretOverheadBytes.value);
    const made = await server.ask(path, { key: one, body: { session } });
    expect([made.status, made.body.error.code]).toEqual([429, 'too_many_client_secrets']);
    expect(Number(made.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(server.secrets.bytes).toBeLessThanOrEqual(limits.clientSecretsBytesPerKey.value * 1.01);
    expect((await server.ask(path, { key: other, body: { session } })).status).toBe(200);
    await server.call('', { authorization: `Bearer ${kept.value}` }).until('session.created');
  });
});
