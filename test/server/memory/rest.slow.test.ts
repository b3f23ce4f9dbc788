import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { memoryFile, MemoryStore } from '../../../server/memory/store/store.ts';
import { fakeEngines } from '../../fakes/engines.ts';
import { dramatis } from '../../rigs/command-rig.ts';
import { bond, dataFolder } from '../../rigs/memory-rig.ts';
import { serve } from '../../rigs/serve-rig.ts';

/** A folder with two turns of Bob's with Alice, one of them with a fact. */
function filledFolder(): string {
  const folder = dataFolder();
  const store = new MemoryStore(memoryFile(folder));
  const turn = { session: 's', answered: 'Indeed.' };
  store.record(bond, { ...turn, item: 'i1', asked: 'I live in Leeds.' }, [{ text: 'I live in Leeds.' }], 0);
  store.record(bond, { ...turn, item: 'i2', asked: 'Good day.' }, [], 86_400_000);
  store.close();
  return folder;
}

describe('/v1/memories', () => {
  const server = async (flags: Record<string, string | boolean> = {}) =>
    serve({ flags: { memory: true, dataDir: filledFolder(), ...flags } });
  const change = async (url: string, method: string, body?: unknown, key?: string) => {
    const response = await fetch(url, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer: any = await response.json();
    return { status: response.status, body: answer };
  };

  it('lists, shows, corrects and deletes memories of a user over HTTP', async () => {
    const { ask, url } = await server();
    const all = await ask('/v1/memories?user=bob');
    expect(all.body).toMatchObject({ object: 'list', has_more: false });
    expect(all.body.data.map(({ id }: { id: string }) => id)).toEqual(['f1', 't2', 't1']);
    expect((await ask('/v1/memories/f1?user=bob')).body).toMatchObject({ text: 'I live in Leeds.', source: 't1' });
    const right = await change(`${url}/v1/memories/f1?user=bob`, 'PATCH', { text: 'I live in York.' });
    expect(right.body).toMatchObject({ id: 'f1', text: 'I live in York.', corrected: true });
    expect((await change(`${url}/v1/memories/f1?user=bob`, 'DELETE')).body).toMatchObject({ deleted: true });
    expect((await ask('/v1/memories?user=bob')).body.data).toMatchObject([{ id: 't2' }]);
  });

  it('exports and erases all memories of a user over HTTP', async () => {
    const { ask, url } = await server();
    const { body } = await ask('/v1/memories/export?user=bob');
    expect(body).toMatchObject({ object: 'memory.export', user: 'bob' });
    expect(body.memories).toHaveLength(3);
    expect((await change(`${url}/v1/memories?user=bob`, 'DELETE')).body).toMatchObject({ count: 3 });
    expect((await ask('/v1/memories?user=bob')).body.data).toEqual([]);
  });

  it('exports more memories than a page holds, each once and oldest first', async () => {
    const dataDir = filledFolder();
    const store = new MemoryStore(memoryFile(dataDir));
    for (let index = 0; index < 700; index += 1) {
      const turn = { session: 'long', item: `i${index}`, asked: `I have ${index} “dogs”.`, answered: '\n' };
      store.record({ ...bond, user: 'eve' }, turn, [{ text: turn.asked }], index);
    }
    store.close();
    const { ask } = await serve({ flags: { memory: true, dataDir } });
    const { body, headers } = await ask('/v1/memories/export?user=eve');
    expect(headers.get('content-type')).toContain('application/json');
    const ids = body.memories.map(({ id }: { id: string }) => id);
    const counted = (letter: string, from: number): string[] =>
      Array.from({ length: 700 }, (_, index) => `${letter}${from + index}`);
    expect(ids).toEqual([...counted('t', 3), ...counted('f', 2)]);
    expect(body.memories[699]).toMatchObject({ asked: 'I have 699 “dogs”.' });
    expect((await ask('/v1/memories/export?user=nobody')).body.memories).toEqual([]);
  });

  it('moves a guest’s memories to a user over HTTP, but not with a client secret', async () => {
    const { ask, url } = await server({ apiKeys: 'key' });
    const { ask: open } = await server();
    expect((await open('/v1/memories/move?user=bob', { body: { to: 'robert' } })).body).toEqual({
      object: 'memory.moved',
      user: 'robert',
      count: 3,
    });
    expect((await open('/v1/memories?user=bob')).body.data).toEqual([]);
    expect((await open('/v1/memories?user=robert')).body.data).toHaveLength(3);
    expect((await open('/v1/memories/move?user=bob', { body: { to: '' } })).body.error).toMatchObject({ param: 'to' });
    const session = { type: 'realtime', model: 'alice', x_dramatis: { user: 'bob' } };
    const { value } = (await ask('/v1/realtime/client_secrets', { key: 'key', body: { session } })).body;
    expect((await change(`${url}/v1/memories/move`, 'POST', { to: 'eve' }, value)).status).toBe(403);
  });

  it('pages through long lists of memories', async () => {
    const { ask } = await server();
    const first = await ask('/v1/memories?user=bob&limit=1');
    expect(first.body).toMatchObject({ has_more: true, data: [{ id: 'f1' }, { id: 't2' }] });
    const next = await ask('/v1/memories?user=bob&limit=1&before=t2');
    expect(next.body.data).toMatchObject([{ id: 't1' }]);
  });

  it('refuses requests without a user, with a wrong page, and for memories that are not there', async () => {
    const { ask, url } = await server();
    for (const [address, status, code] of [
      ['/v1/memories', 400, 'invalid_value'],
      ['/v1/memories?user=bob&limit=0', 400, 'invalid_value'],
      ['/v1/memories?user=bob&before=f1', 400, 'invalid_event'],
      ['/v1/memories/t9?user=bob', 404, 'memory_not_found'],
      ['/v1/memories/nonsense?user=bob', 404, 'memory_not_found'],
      ['/v1/memories/t1?user=eve', 404, 'memory_not_found'],
      ['/v1/memories/t1?user=bob&character=sherlock-holmes', 404, 'memory_not_found'],
    ] as const) {
      const answer = await ask(address);
      expect([answer.status, answer.body.error.code], `at ${address}`).toEqual([status, code]);
    }
    for (const wrong of [{}, { text: '' }, { text: 'a', asked: 'b' }, { asked: 'only of turns' }]) {
      const answer = await change(`${url}/v1/memories/f1?user=bob`, 'PATCH', wrong);
      expect([answer.status, answer.body.error.code], `for ${JSON.stringify(wrong)}`).toEqual([400, 'invalid_value']);
    }
  });

  it('answers with memory_off if memory is disabled', async () => {
    const answer = await (await server({ memory: false })).ask('/v1/memories?user=bob');
    expect([answer.status, answer.body.error.code]).toEqual([404, 'memory_off']);
  });

  it('opens with a client secret only the memories of its own user and character', async () => {
    const { ask, url } = await server({ apiKeys: 'key' });
    expect((await ask('/v1/memories?user=bob')).status).toBe(401);
    const secretFor = async (x_dramatis: object): Promise<string> => {
      const session = { type: 'realtime', model: 'alice', x_dramatis };
      return (await ask('/v1/realtime/client_secrets', { key: 'key', body: { session } })).body.value;
    };
    const bobs = await secretFor({ user: 'bob' });
    expect((await ask('/v1/memories', { key: bobs })).body).toMatchObject({ object: 'list', data: [] });
    const others = ['?user=eve', '?character=sherlock-holmes'].map((query) =>
      ask(`/v1/memories${query}`, { key: bobs }),
    );
    for (const { status, body } of await Promise.all(others))
      expect([status, body.error.code]).toEqual([403, 'user_not_allowed']);
    const nobodys = await secretFor({});
    expect((await ask('/v1/memories?user=bob', { key: nobodys })).status).toBe(403);
    expect((await change(`${url}/v1/memories`, 'DELETE', undefined, nobodys)).status).toBe(403);
  });
});

describe('POST /v1/chat/completions', () => {
  it('stores and recalls no memories for chat completions, even if they name a user', async () => {
    const dataDir = filledFolder();
    const engines = fakeEngines();
    const { ask } = await serve({ flags: { memory: true, dataDir }, engines });
    const messages = [{ role: 'user', content: 'Do I live in Leeds?' }];
    const body = { model: 'alice', user: 'bob', safety_identifier: 'bob', messages };
    expect((await ask('/v1/chat/completions', { body })).status).toBe(200);
    expect(engines.agent.asked.at(-1)?.memories).toBeUndefined();
    expect((await ask('/v1/memories?user=bob')).body.data).toHaveLength(3);
  });
});

describe('dramatis memory', () => {
  it('lists, shows, corrects, moves, exports, deletes and erases memories on the command line', async () => {
    const folder = filledFolder();
    const memory = async (...args: string[]) => (await dramatis('memory', ...args, '--data-dir', folder)).stdout;
    expect(await memory('list')).toMatch(/bob +.*alice +2 +1 +1970-01-02/);
    const listed = JSON.parse(await memory('list', '--user', 'bob', '--json')) as { id: string }[];
    expect(listed.map(({ id }) => id)).toEqual(['f1', 't2', 't1']);
    expect(await memory('correct', 'f1', '--user', 'bob', '--text', 'I live in York.')).toContain('York');
    expect(await memory('show', 'f1', '--user', 'bob')).toMatch(/text +I live in York\./);
    const out = path.join(folder, 'bob.json');
    await memory('export', '--user', 'bob', '--out', out);
    expect(JSON.parse(readFileSync(out, 'utf8'))).toMatchObject({
      user: 'bob',
      memories: [{ id: 't1' }, { id: 't2' }, {}],
    });
    expect(await memory('move', '--user', 'bob', '--to-user', 'robert')).toContain('Moved 3 memories.');
    expect(await memory('move', '--key', '', '--to-key', 'game')).toContain('Moved 3 memories.');
    expect(await memory('list')).toMatch(/robert +game +alice/);
    await memory('move', '--user', 'robert', '--to-user', 'bob', '--to-key', 'old');
    await memory('delete', 't2', '--user', 'bob');
    expect(await dramatis('memory', 'erase', '--user', 'bob', '--data-dir', folder)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('To erase all memories of bob, add --yes.'),
    });
    expect(await memory('erase', '--user', 'bob', '--yes')).toContain('Erased 2 memories.');
    expect(await memory('list')).toContain('There are no memories.');
    const refused = (...args: string[]) => dramatis('memory', ...args, '--data-dir', folder);
    expect((await refused('move', '--to-key', 'game')).stderr).toContain('To move one user, give --user NAME');
    expect((await refused('list', '--user', 'bob')).stderr).toContain('There are no memories of a user "bob".');
  });
});
