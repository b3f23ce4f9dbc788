import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { mostKept } from '../../../server/memory/store/changes.ts';
import { copyMemories } from '../../../server/memory/store/copied.ts';
import { operations } from '../../../server/memory/store/operations.ts';
import { memoryFile, MemoryStore } from '../../../server/memory/store/store.ts';
import { fakeEngines } from '../../fakes/engines.ts';
import {
  begin,
  bob,
  bond,
  dataFolder,
  keptIn,
  newStore,
  newStoreIn,
  say,
  storeKinds,
  type Call,
} from '../../rigs/memory-rig.ts';
import { stages } from '../../rigs/scene-rig.ts';
import { serve } from '../../rigs/serve-rig.ts';

const turn = (item: string, asked: string, answered = 'Yes.') => ({ session: 's1', item, asked, answered });

describe.each(storeKinds)('memories in %s', (kind) => {
  it('stores a turn with its facts and each fact with its source turn', async () => {
    const store = await newStoreIn(kind);
    await store.record(bond, turn('i1', 'I live in Leeds.'), [{ topic: 'home', text: 'I live in Leeds.' }], 1_000);
    expect(await store.list(bob)).toEqual([
      {
        id: 'f1',
        kind: 'fact',
        character: 'alice',
        at: '1970-01-01T00:00:01.000Z',
        text: 'I live in Leeds.',
        source: 't1',
        corrected: false,
      },
      {
        id: 't1',
        kind: 'turn',
        character: 'alice',
        at: '1970-01-01T00:00:01.000Z',
        session: 's1',
        asked: 'I live in Leeds.',
        answered: 'Yes.',
      },
    ]);
  });

  it('updates a turn that is recorded again, cut to what was heard', async () => {
    const store = await newStoreIn(kind);
    await store.record(bond, turn('i1', 'Hello.', 'One two three four.'), [], 0);
    await store.record(bond, turn('i1', 'Hello.', 'One two'), [], 0);
    expect(await store.list(bob)).toMatchObject([{ answered: 'One two' }]);
    await store.record(bond, turn('i1', '', ''), [], 0);
    expect(await store.list(bob)).toEqual([]);
  });

  it('keeps one fact per topic, the latest, and no fact twice', async () => {
    const store = await newStoreIn(kind);
    await store.record(bond, turn('i1', 'I live in Leeds.'), [{ topic: 'home', text: 'I live in Leeds.' }], 0);
    await store.record(bond, turn('i2', 'I live in York.'), [{ topic: 'home', text: 'I live in York.' }], 0);
    await store.record(bond, turn('i3', 'I live in york!'), [{ text: 'i live in york.' }], 0);
    const facts = (await store.list(bob)).filter(({ kind }) => kind === 'fact');
    expect(facts).toMatchObject([{ text: 'I live in York.', source: 't2' }]);
  });

  it('keeps the latest 10,000 turns of a user, and the facts of the dropped ones', async () => {
    const source = newStore();
    const facts = [{ topic: 'home', text: 'I live in Leeds.' }];
    // In one transaction, for speed.
    await source.within(async (perform) => {
      for (let told = 0; told < mostKept.turns; told += 1)
        await perform(operations.record(bond, turn(`i${told}`, 'Hello.'), told === 0 ? facts : [], 0));
    });
    const store = await newStoreIn(kind);
    await copyMemories(source, store);
    for (let told = 0; told < 5; told += 1) await store.record(bond, turn(`later${told}`, 'Hello.'), [], 0);
    const kept = await store.list(bob);
    expect(kept.filter((memory) => memory.kind === 'turn')).toHaveLength(mostKept.turns);
    expect(kept.filter((memory) => memory.kind === 'fact')).toMatchObject([{ text: 'I live in Leeds.', source: null }]);
    expect(kept.at(-1)?.id).toBe('t6');
  });

  it('keeps the latest 1,000 facts of a user', async () => {
    const source = newStore();
    const facts = Array.from({ length: mostKept.facts + 5 }, (_unused, place) => ({ text: `Fact ${place}.` }));
    source.record(bond, turn('i1', 'Hello.'), facts.slice(0, mostKept.facts), 0);
    const store = await newStoreIn(kind);
    await copyMemories(source, store);
    await store.record(bond, turn('i2', 'Hello.'), facts.slice(mostKept.facts), 0);
    const kept = (await store.list(bob)).filter(({ kind }) => kind === 'fact');
    expect(kept).toHaveLength(mostKept.facts);
    expect(kept.some((fact) => fact.kind === 'fact' && fact.text === 'Fact 4.')).toBe(false);
  });

  it('separates the memories of different keys and characters', async () => {
    const store = await newStoreIn(kind);
    const said = (asked: string, session = 's1') => ({ ...turn('i1', asked), session });
    await store.record(bond, said('Hello.'), [], 0);
    await store.record({ ...bond, owner: 'other' }, said('A secret.', 's2'), [], 0);
    await store.record({ ...bond, character: 'holmes' }, said('A case.', 's3'), [], 0);
    expect(await store.list(bob)).toMatchObject([{ asked: 'A case.' }, { asked: 'Hello.' }]);
    expect(await store.list(bob, { character: 'alice' })).toMatchObject([{ asked: 'Hello.' }]);
    await expect(store.get(bob, 't2')).rejects.toThrow('There is no memory "t2"');
    expect(await store.erase(bob)).toBe(2);
    expect(await store.list({ owner: 'other', user: 'bob' })).toHaveLength(1);
  });

  it('never reuses the id of a deleted memory', async () => {
    const store = await newStoreIn(kind);
    await store.record(bond, turn('i1', 'One.'), [], 0);
    await store.remove(bob, 't1');
    await store.record(bond, turn('i2', 'Two.'), [], 0);
    expect(await store.list(bob)).toMatchObject([{ id: 't2' }]);
  });
});

describe('session with memory', () => {
  it('has stored a turn when the client gets its end, and recalls it in the next session of that user and character only', async () => {
    const dataDir = dataFolder();
    const engines = fakeEngines({ says: ['A fine town.'] });
    const server = await serve({ flags: { memory: true, dataDir }, engines });
    const first = await begin(server);
    await say(first, 'I live in Leeds.');
    expect(keptIn(dataDir)).toMatchObject([
      { kind: 'fact', text: 'I live in Leeds.', source: 't1', character: 'alice' },
      { kind: 'turn', asked: 'I live in Leeds.', answered: 'A fine town.' },
    ]);
    // Nothing from the current conversation is recalled.
    expect(engines.agent.asked.at(-1)?.memories).toBeUndefined();
    first.socket.close();

    const second = await begin(server);
    await say(second, 'Do you know where I am at home?');
    expect(engines.agent.asked.at(-1)?.memories).toEqual(['They told you today: I live in Leeds.']);
    // Another character and another user recall nothing of it.
    for (const query of ['?model=sherlock-holmes&user=bob', '?model=alice&user=eve', '?model=alice']) {
      const other = await begin(server, query);
      await say(other, 'Do I live in Leeds?');
      expect(engines.agent.asked.at(-1)?.memories).toBeUndefined();
    }
  });

  it('stores nothing without a user name, and nothing if memory is disabled', async () => {
    const dataDir = dataFolder();
    const server = await serve({ flags: { memory: true, dataDir } });
    const nameless = await begin(server, '?model=alice');
    await say(nameless, 'I live in Leeds.');
    const store = new MemoryStore(memoryFile(dataDir));
    expect(store.people()).toEqual([]);
    store.close();
    const offDir = dataFolder();
    const off = await serve({ flags: { dataDir: offDir } });
    const named = await begin(off);
    await say(named, 'I live in Leeds.');
    expect((await off.ask('/healthz')).body.memory).toBe('off');
    expect(existsSync(memoryFile(offDir))).toBe(false);
  });

  it('stores turns from the moment the user is named and refuses another name after that', async () => {
    const dataDir = dataFolder();
    const server = await serve({ flags: { memory: true, dataDir } });
    const call = await begin(server, '?model=alice');
    await say(call, 'A secret.');
    call.send({ type: 'session.update', session: { type: 'realtime', x_dramatis: { user: 'bob' } } });
    expect((await call.until('session.updated'))['session'].x_dramatis.user).toBe('bob');
    await say(call, 'Hello.');
    expect(keptIn(dataDir)).toMatchObject([{ asked: 'Hello.' }]);
    call.send({ type: 'session.update', session: { type: 'realtime', x_dramatis: { user: 'eve' } } });
    expect((await call.until('error'))['error']).toMatchObject({ code: 'user_not_allowed' });
  });

  it('stores an unanswered message at the end of the session and drops one the client deleted', async () => {
    const dataDir = dataFolder();
    const server = await serve({ flags: { memory: true, dataDir } });
    const call = await begin(server);
    await say(call, 'Hello.');
    const content = [{ type: 'input_text', text: 'One more thing.' }];
    for (const id of ['last', 'wrong'])
      call.send({ type: 'conversation.item.create', item: { id, type: 'message', role: 'user', content } });
    call.send({ type: 'conversation.item.delete', item_id: 'wrong' });
    await call.until('conversation.item.deleted');
    call.socket.close();
    await call.closed;
    await server.app.close();
    expect(keptIn(dataDir)).toMatchObject([{ asked: 'One more thing.', answered: '' }, { asked: 'Hello.' }]);
  });

  it('continues the memory of a resumed session after a server restart', async () => {
    const flags = { memory: true, store: true, dataDir: dataFolder() };
    const first = await serve({ flags });
    const before = first.call('?model=alice&x=resume&user=bob');
    const { session } = await before.until('session.created');
    await say(before, 'Hello.');
    await first.app.close();
    await before.closed;
    const next = await serve({ flags });
    const after = next.call(`?x=resume&resume=${session.x_dramatis.resume.token}&after=0`);
    await after.until('x_dramatis.resumed');
    await say(after, 'I am back.');
    const kept = keptIn(flags.dataDir);
    expect(kept).toMatchObject([{ asked: 'I am back.' }, { asked: 'Hello.' }]);
    expect(new Set(kept.map((memory) => memory.kind === 'turn' && memory.session))).toEqual(new Set([session.id]));
  });
});

async function serveScenes() {
  return startIn(dataFolder());
}

/** A server with scenes and memory over that folder. */
async function startIn(dataDir: string) {
  const server = await serve({ flags: { memory: true, store: true, dataDir } });
  for (const stage of stages) server.characters.set(stage.id, stage);
  return {
    ...server,
    dataDir,
    kept: () => keptIn(dataDir),
  };
}

async function choose(call: Call, id: string | null): Promise<void> {
  const scene = id === null ? null : { id };
  call.send({ type: 'session.update', session: { type: 'realtime', x_dramatis: { scene } } });
  await call.until('session.updated');
}

describe('memory and scenes', () => {
  it('stores nothing that was said in a scene in the middle of a session', async () => {
    const server = await serveScenes();
    const call = await begin(server);
    await say(call, 'Hello.');
    await choose(call, 'the-locked-garden');
    await say(call, 'My sister is called Mary.');
    await choose(call, null);
    await say(call, 'We are alone again.');
    await choose(call, 'the-locked-garden');
    const content = [{ type: 'input_text', text: 'My dog is called Rex.' }];
    call.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } });
    await call.until('conversation.item.done');
    call.socket.close();
    await call.closed;
    await server.app.close();
    expect(server.kept()).toMatchObject([{ asked: 'We are alone again.' }, { asked: 'Hello.' }]);
  });

  it('stores nothing of a scene that the server was stopped in', async () => {
    const first = await serveScenes();
    const before = first.call('?model=alice&x=resume&user=bob');
    const { session } = await before.until('session.created');
    await say(before, 'Hello.');
    await choose(before, 'the-locked-garden');
    before.send({ type: 'response.create' });
    await before.until('response.output_audio_transcript.delta');
    await first.app.close();
    await before.closed;
    const next = await startIn(first.dataDir);
    const after = next.call(`?x=resume&resume=${session.x_dramatis.resume.token}&after=0`);
    await after.until('x_dramatis.resumed');
    await say(after, 'Who was here?');
    await choose(after, null);
    await say(after, 'We are alone again.');
    expect(next.kept()).toMatchObject([{ asked: 'We are alone again.' }, { asked: 'Hello.' }]);
  });

  it('deletes a message from memory that the client deletes during a scene', async () => {
    const server = await serveScenes();
    const call = await begin(server);
    const content = [{ type: 'input_text', text: 'I live in Leeds.' }];
    call.send({ type: 'conversation.item.create', item: { id: 'u1', type: 'message', role: 'user', content } });
    await say(call, 'Hello.');
    await choose(call, 'the-locked-garden');
    call.send({ type: 'conversation.item.delete', item_id: 'u1' });
    await call.until('conversation.item.deleted');
    expect(server.kept()).toMatchObject([{ asked: 'Hello.' }]);
  });
});
