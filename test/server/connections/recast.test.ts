import { describe, expect, it } from 'vitest';
import { fold } from '../../../server/journal/fold.ts';
import type { JournalLine } from '../../../server/journal/lines.ts';
import { restore } from '../../../server/journal/restore.ts';
import { fakeEngines } from '../../fakes/engines.ts';
import { begin, dataFolder, keptIn, say, type Call } from '../../rigs/memory-rig.ts';
import { serve } from '../../rigs/serve-rig.ts';

const key = 'server-key';
const says = ['One.', 'Two.', 'Three.', 'Four.', 'Five.'];

async function recast(call: Call, wanted: unknown): Promise<any> {
  call.send({ type: 'session.update', session: { type: 'realtime', x_dramatis: wanted } });
  const { session } = await call.until('session.updated');
  return session;
}

describe('changing the character of a session', () => {
  it('gives the voice and the greeting of the new character, who knows nothing of what was said before', async () => {
    const engines = fakeEngines({ says });
    const server = await serve({ engines });
    const call = await begin(server, '?model=alice');
    await say(call, 'I am the mayor.');
    const session = await recast(call, { character: 'sherlock-holmes' });
    expect(session.x_dramatis.character).toMatchObject({ id: 'sherlock-holmes', name: 'Sherlock Holmes' });
    expect(session.audio.output.voice).toBe('sherlock-holmes');
    await say(call, 'Good day.');
    expect(engines.agent.histories.at(-1)).toEqual([{ role: 'user', text: 'Good day.' }]);
  });

  it('stays with the character if a client echoes its session, and takes the object of the session as well', async () => {
    const server = await serve({ engines: fakeEngines({ says }) });
    const call = await begin(server, '?model=alice');
    await say(call, 'Hello.');
    const { x_dramatis } = await recast(call, { character: 'alice' });
    const { x_dramatis: again } = await recast(call, x_dramatis);
    expect(again.character.id).toBe('alice');
    const { x_dramatis: other } = await recast(call, { character: { id: 'sherlock-holmes' } });
    expect(other.character.id).toBe('sherlock-holmes');
  });

  it('leaves a scene for a character, and for the first one if it names none', async () => {
    const server = await serve({ engines: fakeEngines({ says }) });
    const call = await begin(server, '?model=alice');
    await recast(call, { character: 'sherlock-holmes' });
    const { x_dramatis } = await recast(call, { character: 'alice', scene: null });
    expect(x_dramatis.character.id).toBe('alice');
  });

  it('refuses a character that does not exist, and keeps the present one', async () => {
    const server = await serve({ engines: fakeEngines({ says }) });
    const call = await begin(server, '?model=alice');
    call.send({ type: 'session.update', event_id: 'e1', session: { x_dramatis: { character: 'nobody' } } });
    const { error } = await call.until('error');
    expect(error).toMatchObject({ code: 'unknown_character', param: 'session.x_dramatis.character', event_id: 'e1' });
    const { x_dramatis } = await recast(call, {});
    expect(x_dramatis.character.id).toBe('alice');
  });

  it('stores what each character heard as its own memory, also after a return', async () => {
    const dataDir = dataFolder();
    const server = await serve({ engines: fakeEngines({ says }), flags: { memory: true, dataDir } });
    const call = await begin(server, '?model=alice&user=bob');
    await say(call, 'I am Bob.');
    await recast(call, { character: 'sherlock-holmes' });
    await say(call, 'My name is Robert.');
    await recast(call, { character: 'alice' });
    await say(call, 'Alice again.');
    await server.app.close();
    const turns = keptIn(dataDir).flatMap((one) => (one.kind === 'turn' ? [[one.character, one.asked]] : []));
    expect(turns.toReversed()).toEqual([
      ['alice', 'I am Bob.'],
      ['sherlock-holmes', 'My name is Robert.'],
      ['alice', 'Alice again.'],
    ]);
  });

  it('recalls what the new character remembers of the user from earlier sessions', async () => {
    const engines = fakeEngines({ says });
    const server = await serve({ engines, flags: { memory: true, dataDir: dataFolder() } });
    const earlier = await begin(server, '?model=sherlock-holmes&user=bob');
    await say(earlier, 'I keep bees in Sussex.');
    earlier.socket.close();
    await earlier.closed;
    const call = await begin(server, '?model=alice&user=bob');
    await say(call, 'What do I keep in Sussex?');
    expect(JSON.stringify(engines.agent.asked.at(-1)?.memories ?? [])).not.toContain('bees');
    await recast(call, { character: 'sherlock-holmes' });
    await say(call, 'What do I keep in Sussex?');
    expect(JSON.stringify(engines.agent.asked.at(-1)?.memories)).toContain('bees');
  });
});

describe('the characters that a client secret allows', () => {
  const issue = async (server: Awaited<ReturnType<typeof serve>>, x_dramatis?: unknown): Promise<string> => {
    const body = { session: { model: 'alice' }, ...(x_dramatis === undefined ? {} : { x_dramatis }) };
    const answer = await server.ask('/v1/realtime/client_secrets', { key, body });
    expect(answer.status).toBe(200);
    return answer.body.value as string;
  };
  const open = (server: Awaited<ReturnType<typeof serve>>, secret: string, query = ''): Call =>
    server.call(query, { authorization: `Bearer ${secret}` });

  it('lets a session change to those it lists, and to no other', async () => {
    const server = await serve({ engines: fakeEngines({ says }), flags: { apiKeys: key } });
    const call = open(server, await issue(server, { characters: ['sherlock-holmes'] }));
    await call.until('session.created');
    const { x_dramatis } = await recast(call, { character: 'sherlock-holmes' });
    expect(x_dramatis.character.id).toBe('sherlock-holmes');
    call.send({ type: 'session.update', session: { x_dramatis: { character: 'abraham-lincoln' } } });
    expect((await call.until('error')).error).toMatchObject({ code: 'character_not_allowed' });
    const back = await recast(call, { character: 'alice' });
    expect(back.x_dramatis.character.id).toBe('alice');
  });

  it('allows none but its own if it lists none', async () => {
    const server = await serve({ engines: fakeEngines({ says }), flags: { apiKeys: key } });
    const call = open(server, await issue(server));
    await call.until('session.created');
    call.send({ type: 'session.update', session: { x_dramatis: { character: 'sherlock-holmes' } } });
    expect((await call.until('error')).error).toMatchObject({ code: 'character_not_allowed' });
  });

  it('opens a session with one it lists', async () => {
    const server = await serve({ engines: fakeEngines({ says }), flags: { apiKeys: key } });
    const secret = await issue(server, { characters: ['sherlock-holmes'] });
    const call = open(server, secret, '?model=sherlock-holmes');
    expect((await call.until('session.created')).session.x_dramatis.character.id).toBe('sherlock-holmes');
    const other = open(server, secret, '?model=abraham-lincoln');
    expect((await other.until('error')).error).toMatchObject({ code: 'character_not_allowed' });
  });

  it('is not made for a character that does not exist', async () => {
    const server = await serve({ flags: { apiKeys: key } });
    const body = { session: { model: 'alice' }, x_dramatis: { characters: ['nobody'] } };
    expect(await server.ask('/v1/realtime/client_secrets', { key, body })).toMatchObject({
      status: 404,
      body: { error: { code: 'unknown_character', param: 'x_dramatis.characters' } },
    });
  });
});

describe('a restored session whose character was changed', () => {
  const message = (id: string, text: string) =>
    ({ id, type: 'message', role: 'user', status: 'completed', content: [{ type: 'text', text }] }) as const;
  const session = (id: string): JournalLine => ({
    type: 'session',
    session: { id: 'sess_1', x_dramatis: { character: { id } } },
  });
  const lines: JournalLine[] = [
    { type: 'open', version: 3, id: 'sess_1', character: 'alice', model: 'alice', terms: { characters: ['watson'] } },
    {
      type: 'item',
      item: { ...message('i1', 'For Alice.'), content: [{ type: 'text', text: 'For Alice.' }] },
      after: null,
    },
    session('watson'),
    {
      type: 'item',
      item: { ...message('i2', 'For Watson.'), content: [{ type: 'text', text: 'For Watson.' }] },
      after: 'i1',
    },
    session('watson'),
  ];

  it.each([
    ['as written', lines],
    ['shortened', fold(lines)],
  ])('knows what was said before the change, and the terms of its secret: %s', (_, journal) => {
    const restored = restore(journal, 0);
    expect(restored?.beforeScene).toEqual(new Set(['i1']));
    expect(restored?.terms).toEqual({ characters: ['watson'] });
    expect(restored?.session?.x_dramatis.character?.id).toBe('watson');
  });
});
