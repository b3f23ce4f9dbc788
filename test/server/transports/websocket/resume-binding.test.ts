import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { serve } from '../../../rigs/serve-rig.ts';

type Server = Awaited<ReturnType<typeof serve>>;

const [alices, bobs] = ['key-of-the-game-of-alice', 'key-of-the-game-of-bobby'];
const flags = { apiKeys: `alices:${alices},bobs:${bobs}` };
const bearer = (value: string): Record<string, string> => ({ authorization: `Bearer ${value}` });
const shown = (token: string): Record<string, string> => ({ 'x-dramatis-resume': token });

const folders: string[] = [];
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true })));
});

/** Flags of servers that share their journals. */
async function stored() {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'dramatis-resume-'));
  folders.push(dataDir);
  return { ...flags, store: true, dataDir };
}

async function secretOf(server: Server, user: string, model = 'alice', key = alices): Promise<string> {
  const session = { model, x_dramatis: { user } };
  const { body } = await server.ask('/v1/realtime/client_secrets', { key, body: { session } });
  return body.value as string;
}

/** Opens a resumable session. */
async function open(server: Server, key: string, query = '') {
  const wire = server.call(`?x=resume${query}`, bearer(key));
  const { session } = await wire.until('session.created');
  return { wire, id: session.id as string, token: session.x_dramatis.resume.token as string };
}

/** Code of the error that a resuming client gets, and the close code. */
async function refusalOf(wire: ReturnType<Server['call']>): Promise<[error: unknown, close: number]> {
  const { error } = await wire.until('error');
  return [error.code, (await wire.closed).code];
}

const notAllowed = ['resume_not_allowed', 1008];

describe('a resume token', () => {
  it('of one account resumes nothing with the key of another account', async () => {
    const server = await serve({ flags });
    const { wire, token } = await open(server, alices, '&model=alice&user=alice');
    expect(await refusalOf(server.call(`?x=resume&after=1&resume=${token}`, bearer(bobs)))).toEqual(notAllowed);
    expect(
      await refusalOf(
        server.call(`?x=resume&after=1`, {
          ...bearer(await secretOf(server, 'alice', 'alice', bobs)),
          ...shown(token),
        }),
      ),
    ).toEqual(notAllowed);
    wire.send({ type: 'response.create' });
    await wire.until('response.done');
  });

  it('resumes nothing with a client secret for another user or another character', async () => {
    const server = await serve({ flags });
    const { wire, token } = await open(server, await secretOf(server, 'alice'));
    for (const secret of [await secretOf(server, 'mallory'), await secretOf(server, 'alice', 'sherlock-holmes')])
      expect(await refusalOf(server.call('?x=resume&after=1', { ...bearer(secret), ...shown(token) }))).toEqual(
        notAllowed,
      );
    const back = server.call('?x=resume&after=1', { ...bearer(await secretOf(server, 'alice')), ...shown(token) });
    await back.until('x_dramatis.resumed');
    expect((await wire.closed).code).toBe(4001);
  });

  it('resumes nothing for another user that the client names', async () => {
    const server = await serve({ flags });
    const { token } = await open(server, alices, '&user=alice');
    expect(
      await refusalOf(server.call('?x=resume&after=1&user=mallory', { ...bearer(alices), ...shown(token) })),
    ).toEqual(notAllowed);
    await server
      .call('?x=resume&after=1&user=alice', { ...bearer(alices), ...shown(token) })
      .until('x_dramatis.resumed');
  });

  it('is accepted as a header, as a subprotocol and, last, in the query', async () => {
    const server = await serve({ flags });
    const { token } = await open(server, alices);
    const protocols = ['realtime', `openai-insecure-api-key.${alices}`, `dramatis-resume.${token}`];
    for (const back of [
      server.call('?x=resume&after=1', { ...bearer(alices), ...shown(token) }),
      server.call('?x=resume&after=1', {}, protocols),
      server.call('?x=resume&after=1&resume=rt_wrong', { ...bearer(alices), ...shown(token) }),
      server.call(`?x=resume&after=1&resume=${token}`, bearer(alices)),
    ])
      expect(await back.until('x_dramatis.resumed')).toMatchObject({ received: expect.any(Number) });
  });

  it('restores the settings of the client secret, even if they were never changed', async () => {
    const common = await stored();
    const before = await serve({ flags: common });
    const session = { model: 'alice', instructions: 'Speak of croquet.', x_dramatis: { user: 'alice' } };
    const { body } = await before.ask('/v1/realtime/client_secrets', { key: alices, body: { session } });
    const { token } = await open(before, body.value as string);
    await before.app.close();
    const after = await serve({ flags: common });
    const back = after.call('?x=resume&after=1', shown(token));
    await back.until('x_dramatis.resumed');
    back.send({ type: 'session.update', session: { type: 'realtime' } });
    expect((await back.until('session.updated'))['session']).toMatchObject({
      instructions: 'Speak of croquet.',
      x_dramatis: { user: 'alice' },
    });
  });

  it('is sufficient as a key: it resumes a session whose client secret has expired', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const server = await serve({ flags });
    const secret = await secretOf(server, 'alice');
    const { token } = await open(server, secret);
    vi.setSystemTime(Date.now() + 7_200_000);
    expect((await server.call('', bearer(secret)).refused).code).toBe('client_secret_expired');
    for (const headers of [{ ...bearer(secret), ...shown(token) }, shown(token)])
      await server.call('?x=resume&after=1', headers).until('x_dramatis.resumed');
  });

  it('that is unknown opens no socket to a client without a valid key', async () => {
    const server = await serve({ flags });
    for (const headers of [shown('rt_guessed'), { ...shown('rt_guessed'), ...bearer('another-key') }])
      expect(await server.call('?after=1&resume=rt_guessed', headers).refused).toMatchObject({
        status: 401,
        code: 'invalid_api_key',
      });
  });

  it('lets no foreign web page resume a session', async () => {
    const server = await serve({ flags });
    const { token } = await open(server, alices);
    const headers = { ...shown(token), origin: 'https://evil.example' };
    expect(await server.call('?after=1', headers).refused).toMatchObject({ status: 403, code: 'origin_not_allowed' });
  });

  it('stays bound to account, user and character after a restart, and is not in the journal', async () => {
    const all = await stored();
    const first = await serve({ flags: all });
    const secret = await secretOf(first, 'alice');
    const { wire, token, id } = await open(first, secret);
    // Changed settings are written.
    wire.send({ type: 'session.update', session: { type: 'realtime' } });
    await wire.until('session.updated');
    const folder = path.join(all.dataDir, 'sessions');
    const texts = await Promise.all((await readdir(folder)).map((name) => readFile(path.join(folder, name), 'utf8')));
    expect(texts.join('')).toContain(id);
    for (const hidden of [token, secret, alices]) expect(texts.join('')).not.toContain(hidden);
    await first.app.close();

    const next = await serve({ flags: { ...all, maxSessionsPerKey: '1' } });
    expect(await refusalOf(next.call('?x=resume&after=1', { ...bearer(bobs), ...shown(token) }))).toEqual(notAllowed);
    const mallory = await secretOf(next, 'mallory');
    expect(await refusalOf(next.call('?x=resume&after=1', { ...bearer(mallory), ...shown(token) }))).toEqual(
      notAllowed,
    );
    // The secret ended with the first server.
    const back = next.call('?x=resume&after=1', { ...bearer(secret), ...shown(token) });
    expect(await back.until('x_dramatis.resumed')).toMatchObject({ restarted: true });
    // It counts for the account that made the secret, and remembers no other user.
    expect((await next.call('', bearer(alices)).refused).code).toBe('too_many_sessions');
    back.send({ type: 'session.update', session: { x_dramatis: { user: 'mallory' } } });
    expect((await back.until('error'))['error']).toMatchObject({ code: 'user_not_allowed' });
  });

  it('restores nothing once the operator has withdrawn the key of its account', async () => {
    const all = await stored();
    const first = await serve({ flags: all });
    const { token } = await open(first, alices);
    await first.app.close();
    const next = await serve({ flags: { ...all, apiKeys: `bobs:${bobs}` } });
    const back = next.call('?x=resume&after=1', shown(token));
    expect((await back.until('error'))['error']).toMatchObject({ code: 'session_not_resumable' });
  });
});
