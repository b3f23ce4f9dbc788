import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { calmFeelings } from '../../../agents/feelings.ts';
import { memoryFile } from '../../../server/memory/store/store.ts';
import { fakeEngines } from '../../fakes/engines.ts';
import { begin, bond, dataFolder, newStore, say, type Call } from '../../rigs/memory-rig.ts';
import { serve } from '../../rigs/serve-rig.ts';

type Server = Awaited<ReturnType<typeof serve>>;
const says = ['One.', 'Two.', 'Three.', 'Four.', 'Five.', 'Six.'];

async function remembering(flags: Record<string, string | boolean> = {}) {
  const engines = fakeEngines({ says });
  const dataDir = dataFolder();
  return { engines, dataDir, server: await serve({ engines, flags: { memory: true, dataDir, ...flags } }) };
}

const saveOf = async (server: Server, user = 'bob', key?: string): Promise<any> => {
  const answer = await server.ask(`/v1/saves?user=${user}`, { body: {}, ...(key === undefined ? {} : { key }) });
  expect(answer.status).toBe(200);
  return answer.body;
};

async function load(server: Server, save: unknown, user = 'bob', key?: string) {
  const response = await fetch(`${server.url}/v1/saves?user=${user}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json', ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) },
    body: JSON.stringify(save),
  });
  return { status: response.status, body: await response.json() };
}

const lasting = ({ made_at: _at, hmac: _code, ...save }: any): unknown => save;

async function hangUp(call: Call): Promise<void> {
  call.socket.close();
  await call.closed;
}

async function tellWorld(call: Call, change: object): Promise<any> {
  call.send({ type: 'x_dramatis.world', id: 'w1', ...change });
  return call.until('x_dramatis.world_taken');
}

describe('POST and PUT /v1/saves', () => {
  it('save a talk with its world and feelings, and bring all of it back, rolling back what came later', async () => {
    const { server, engines } = await remembering();
    const call = await begin(server);
    await tellWorld(call, { set: { place: 'the garden' }, objects: [{ id: 'lantern', name: 'brass lantern' }] });
    await say(call, 'You are a stupid liar. My name is Bob.');
    const save = await saveOf(server);
    expect(save).toMatchObject({
      object: 'dramatis.save',
      turns: [{ character: 'alice', asked: 'You are a stupid liar. My name is Bob.' }],
      facts: [{ text: expect.stringContaining('Bob'), turn: 0 }],
      state: { '*': { world: { set: { place: 'the garden' } } }, alice: { feelings: { emotions: { anger: 3 } } } },
    });
    await tellWorld(call, { id: 'w2', set: { place: 'the cellar' } });
    await say(call, 'Forgive me, my dear friend. I love you.');
    await hangUp(call);
    expect(lasting(await saveOf(server))).not.toEqual(lasting(save));
    const loaded = await load(server, save);
    expect(loaded).toMatchObject({ status: 200, body: { user: 'bob', turns: 1, facts: 1, cards_changed: [] } });
    expect(lasting(await saveOf(server))).toEqual(lasting(save));

    const next = await begin(server);
    await say(next, 'Hello again.');
    const asked = engines.agent.asked.at(-1);
    expect(asked?.feelings?.emotions.anger).toBe(3);
    expect(asked?.surroundings?.('alice').facts.join()).toContain('the garden');
    expect(asked?.memories?.join()).toContain('My name is Bob');
    expect(asked?.memories?.join()).not.toContain('Forgive');
  });

  it('send a client the world that was loaded, and prefer the world that the client has already sent', async () => {
    const { server, engines } = await remembering();
    const call = await begin(server);
    await tellWorld(call, { set: { place: 'the garden', hour: 'dusk' } });
    await hangUp(call);
    const next = server.call('?model=alice&user=bob');
    await next.until('session.created');
    expect(await next.until('x_dramatis.world_taken')).toMatchObject({ id: null, revision: 1 });
    await tellWorld(next, { set: { hour: 'night' } });
    await say(next, 'Where are we?');
    const { facts } = engines.agent.asked.at(-1)!.surroundings!('alice');
    expect(facts).toEqual(['place: the garden', 'hour: night']);
  });

  it('let feelings fade between two sessions, but not those of a save between games', async () => {
    const { server, engines, dataDir } = await remembering();
    const angry = { ...calmFeelings, emotions: { ...calmFeelings.emotions, anger: 9 } };
    const store = newStore(memoryFile(dataDir));
    store.keepState(bond, { name: 'feelings', value: JSON.stringify(angry), at: Date.now() - 600_000 });
    const save = await saveOf(server);
    const call = await begin(server);
    await say(call, 'Hm.');
    expect(engines.agent.asked.at(-1)!.feelings!.emotions.anger).toBe(0);
    await hangUp(call);
    await load(server, save);
    await say(await begin(server), 'Hm.');
    expect(engines.agent.asked.at(-1)!.feelings!.emotions.anger).toBe(9);
  });

  it('are not all that shows what is kept: an export has the state, too, and an erasure leaves none', async () => {
    const { server } = await remembering();
    const call = await begin(server);
    await tellWorld(call, { set: { place: 'the garden' } });
    await say(call, 'Hello.');
    await hangUp(call);
    const exported = await server.ask('/v1/memories/export?user=bob');
    expect(exported.body.state).toMatchObject([
      { character: '', name: 'world', value: { set: { place: 'the garden' } } },
      { character: 'alice', name: 'feelings' },
    ]);
    await fetch(`${server.url}/v1/memories?user=bob`, { method: 'DELETE' });
    expect((await saveOf(server)).state).toEqual({});
    expect((await server.ask('/v1/memories/export?user=bob')).body.state).toBeUndefined();
  });

  it('refuse a save that was changed, and change nothing then', async () => {
    const { server } = await remembering();
    const call = await begin(server);
    await say(call, 'I live in Leeds.');
    const save = await saveOf(server);
    const changed = { ...save, state: { ...save.state, alice: { feelings: {} } } };
    expect(await load(server, changed)).toMatchObject({ status: 400, body: { error: { code: 'save_invalid' } } });
    expect(lasting(await saveOf(server))).toEqual(lasting(save));
  });

  it('refuse one of another server, unless both have the same key', async () => {
    const one = await remembering();
    const other = await remembering();
    await say(await begin(one.server), 'I live in Leeds.');
    const save = await saveOf(one.server);
    expect(await load(other.server, save)).toMatchObject({ status: 400 });
    const keyed = { saveKey: 'a key for two servers' };
    const [first, second] = [await remembering(keyed), await remembering(keyed)];
    await say(await begin(first.server), 'I live in Leeds.');
    const portable = await saveOf(first.server);
    expect(await load(second.server, portable, 'robert')).toMatchObject({ status: 200, body: { turns: 1 } });
    expect(lasting(await saveOf(second.server, 'robert'))).toEqual(lasting(portable));
  });

  it('keep the key that they make readable by its owner only, and over a restart', async () => {
    const { server, dataDir } = await remembering();
    await say(await begin(server), 'I live in Leeds.');
    const save = await saveOf(server);
    const file = path.join(dataDir, 'saves.key');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).toMatch(/^[\w-]{43}$/);
    await server.app.close();
    const again = await serve({ engines: fakeEngines({ says }), flags: { memory: true, dataDir } });
    expect(await load(again, save)).toMatchObject({ status: 200 });
  });

  it('give a client secret access to its own user and characters only', async () => {
    const key = 'server-key';
    const { server } = await remembering({ apiKeys: key });
    const issue = async (characters: string[]): Promise<string> => {
      const session = { model: 'alice', x_dramatis: { user: 'bob' } };
      const answer = await server.ask('/v1/realtime/client_secrets', {
        key,
        body: { session, x_dramatis: { characters } },
      });
      return answer.body.value as string;
    };
    const secret = await issue([]);
    const both = await issue(['sherlock-holmes']);
    for (const query of ['', '?model=sherlock-holmes']) {
      const call = server.call(query, { authorization: `Bearer ${both}` });
      await call.until('session.created');
      await say(call, `Hello ${query}.`);
      await hangUp(call);
    }
    const of = (save: any): string[] => save.turns.map(({ character }: any) => character);
    expect(of(await saveOf(server, 'bob', secret))).toEqual(['alice']);
    const whole = await saveOf(server, 'bob', both);
    expect(of(whole).toSorted()).toEqual(['alice', 'sherlock-holmes']);
    expect(await load(server, whole, 'bob', secret)).toMatchObject({
      status: 403,
      body: { error: { code: 'character_not_allowed' } },
    });
    expect(await load(server, whole, 'eve', both)).toMatchObject({
      status: 403,
      body: { error: { code: 'user_not_allowed' } },
    });
    expect(await load(server, whole, 'bob', both)).toMatchObject({ status: 200 });
  });

  it('say that memory is off where it is', async () => {
    const server = await serve({ engines: fakeEngines() });
    expect(await server.ask('/v1/saves?user=bob', { body: {} })).toMatchObject({
      status: 404,
      body: { error: { code: 'memory_off' } },
    });
    expect(await load(server, {})).toMatchObject({ status: 404, body: { error: { code: 'memory_off' } } });
  });
});
