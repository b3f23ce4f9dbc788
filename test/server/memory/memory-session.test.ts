import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { memoryFile, MemoryStore } from '../../../server/memory/store.ts';
import { Conversation } from '../../../server/session/history/conversation.ts';
import { userMessage, type MessageItem, type SpokenContent } from '../../../server/session/contract/item.ts';
import type { SessionEvent } from '../../../server/session/contract/events.ts';
import { TurnRecorder, type TurnRecorderParts } from '../../../server/memory/turn-recorder.ts';
import { fakeEngines } from '../../fakes/engines.ts';
import { keptIn, say } from '../../rigs/memory-rig.ts';
import { serve } from '../../rigs/serve-rig.ts';
import { openRig } from '../../rigs/session-rig.ts';

const folders: string[] = [];
afterEach(() => folders.splice(0).forEach((folder) => rmSync(folder, { recursive: true })));

function dataFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'dramatis-memory-'));
  folders.push(folder);
  return folder;
}

describe('session with memory', () => {
  it('has stored a turn when the client gets its end, and recalls it in the next session of that user and character only', async () => {
    const dataDir = dataFolder();
    const engines = fakeEngines({ says: ['A fine town.'] });
    const server = await serve({ flags: { memory: true, dataDir }, engines });
    const first = server.call('?model=alice&user=bob');
    await first.until('session.created');
    await say(first, 'I live in Leeds.');
    expect(keptIn(dataDir)).toMatchObject([
      { kind: 'fact', text: 'I live in Leeds.', source: 't1', character: 'alice' },
      { kind: 'turn', asked: 'I live in Leeds.', answered: 'A fine town.' },
    ]);
    // Nothing is told as remembered that stands in the talk itself.
    expect(engines.agent.asked.at(-1)?.memories).toBeUndefined();
    first.socket.close();

    const second = server.call('?model=alice&user=bob');
    await second.until('session.created');
    await say(second, 'Do you know where I am at home?');
    expect(engines.agent.asked.at(-1)?.memories).toEqual(['They told you today: I live in Leeds.']);
    // Another character, and another user, know nothing of it.
    for (const query of ['?model=sherlock-holmes&user=bob', '?model=alice&user=eve', '?model=alice']) {
      const other = server.call(query);
      await other.until('session.created');
      await say(other, 'Do I live in Leeds?');
      expect(engines.agent.asked.at(-1)?.memories).toBeUndefined();
    }
  });

  it('stores nothing without a user name, and nothing if memory is disabled', async () => {
    const dataDir = dataFolder();
    const server = await serve({ flags: { memory: true, dataDir } });
    const nameless = server.call('?model=alice');
    await nameless.until('session.created');
    await say(nameless, 'I live in Leeds.');
    const store = new MemoryStore(memoryFile(dataDir));
    expect(store.people()).toEqual([]);
    store.close();
    const off = await serve({ flags: { dataDir: dataFolder() } });
    const named = off.call('?model=alice&user=bob');
    await named.until('session.created');
    await say(named, 'I live in Leeds.');
    expect((await off.ask('/healthz')).body.memory).toBe('off');
    expect(existsSync(memoryFile(folders.at(-1) ?? ''))).toBe(false);
  });

  it('stores turns from the moment the user is named and refuses another name after that', async () => {
    const dataDir = dataFolder();
    const server = await serve({ flags: { memory: true, dataDir } });
    const call = server.call('?model=alice');
    await call.until('session.created');
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
    const call = server.call('?model=alice&user=bob');
    await call.until('session.created');
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

  it('takes the user of a client secret from the secret alone', async () => {
    const dataDir = dataFolder();
    const server = await serve({ flags: { memory: true, dataDir, apiKeys: 'key' } });
    const secretFor = async (user?: string): Promise<string> => {
      const session = { type: 'realtime', model: 'alice', ...(user === undefined ? {} : { x_dramatis: { user } }) };
      const { body } = await server.ask('/v1/realtime/client_secrets', { key: 'key', body: { session } });
      return body.value;
    };
    const bobs = { authorization: `Bearer ${await secretFor('bob')}` };
    const call = server.call('', bobs);
    expect((await call.until('session.created'))['session'].x_dramatis.user).toBe('bob');
    await say(call, 'Hello.');
    const nobodys = server.call('', { authorization: `Bearer ${await secretFor()}` });
    await nobodys.until('session.created');
    nobodys.send({ type: 'session.update', session: { type: 'realtime', x_dramatis: { user: 'bob' } } });
    expect((await nobodys.until('error'))['error']).toMatchObject({ code: 'user_not_allowed' });
    const other = server.call('?user=eve', bobs);
    expect((await other.until('error'))['error']).toMatchObject({ code: 'user_not_allowed', param: 'user' });
    const store = new MemoryStore(memoryFile(dataDir));
    expect(store.people()).toMatchObject([{ user: 'bob', turns: 1 }]);
    expect(store.people()[0]?.owner).not.toBe('');
    store.close();
  });

  it('serves without memory if the memory file is broken', async () => {
    const dataDir = dataFolder();
    mkdirSync(path.dirname(memoryFile(dataDir)));
    writeFileSync(memoryFile(dataDir), 'broken'.repeat(1_000));
    const server = await serve({ flags: { memory: true, dataDir } });
    const call = server.call('?model=alice&user=bob');
    await call.until('session.created');
    await say(call, 'Hello.');
    expect((await server.ask('/healthz')).body.memory).toBe('unavailable');
    expect(server.log.join('')).toContain('cannot be read');
  });
});

describe('TurnRecorder', () => {
  it('stores a reply as far as it was heard, first as interrupted and then as truncated by the client', async () => {
    const rig = openRig({ says: ['One two three four five six seven eight nine ten.'] });
    const kept: string[] = [];
    const keeper = new TurnRecorder({
      store: { record: async (_bond, { answered }) => void kept.push(answered) },
      bond: { owner: '', user: 'bob', character: 'alice' },
      session: 's',
      conversation: rig.session.conversation,
      now: () => 0,
      onFault: (fault) => rig.faults.push(fault),
    });
    const noteAll = async (): Promise<void> => {
      for (const event of rig.events.splice(0)) await keeper.note(event);
    };
    await rig.speak(600);
    await rig.silence(1_000);
    await rig.speak(700);
    await rig.silence(200);
    await noteAll();
    const said = 'One two three four five six seven eight nine ten.';
    const [first = ''] = kept;
    expect(first.length).toBeGreaterThan(0);
    expect(first.length).toBeLessThan(said.length);
    expect(said.startsWith(first)).toBe(true);
    const reply = rig.session.conversation.items.find((item) => item.type === 'message' && item.role === 'assistant');
    rig.send({ type: 'item-truncate', id: reply?.id ?? '', contentIndex: 0, heardMs: 150 });
    await rig.silence(40);
    await noteAll();
    const last = kept.at(-1) ?? '';
    expect(last.length).toBeLessThan(first.length);
    expect(said.startsWith(last)).toBe(true);
    expect(rig.faults).toEqual([]);
  });

  it('stores the user message of a turn that is transcribed after it was answered', async () => {
    const remark: SpokenContent = {
      type: 'audio',
      transcript: null,
      durationMs: 600,
      audio: [],
      sampleRate: 24_000,
      words: [],
    };
    const reply: MessageItem = { ...userMessage('a'), role: 'assistant', content: [{ type: 'text', text: 'Indeed.' }] };
    const conversation = new Conversation(0);
    const kept: (readonly [string, string, number])[] = [];
    const keeper = new TurnRecorder({
      store: { record: async (_bond, { asked, answered }, facts) => void kept.push([asked, answered, facts.length]) },
      bond: { owner: '', user: 'bob', character: 'alice' },
      session: 's',
      conversation,
      now: () => 0,
      onFault: (fault) => expect.fail(String(fault)),
    });
    conversation.insert({ ...userMessage('u'), content: [remark] });
    conversation.insert(reply);
    await keeper.note({ type: 'reply-ended', item: reply } as SessionEvent);
    remark.transcript = 'I live in Leeds.';
    await keeper.note({ type: 'transcript-final', itemId: 'u', text: remark.transcript, audioMs: 600 });
    expect(kept).toEqual([
      ['', 'Indeed.', 0],
      ['I live in Leeds.', 'Indeed.', 1],
    ]);
  });

  it('stores the turn that the previous server could not, and no turn twice', async () => {
    const said = (id: string, role: 'user' | 'assistant', text: string): MessageItem => ({
      ...userMessage(id),
      role,
      content: [{ type: 'text', text }],
    });
    const cut = said('a2', 'assistant', 'One two');
    const before = [
      said('u1', 'user', 'Hello.'),
      said('a1', 'assistant', 'Indeed.'),
      said('u2', 'user', 'Count.'),
      cut,
    ];
    const talk = async (parts: Pick<TurnRecorderParts, 'openReplies'>): Promise<string[][]> => {
      const conversation = new Conversation(0, before);
      const kept: string[][] = [];
      const keeper = new TurnRecorder({
        store: { record: async (_bond, { item, asked, answered }) => void kept.push([item, asked, answered]) },
        bond: { owner: '', user: 'bob', character: 'alice' },
        session: 's',
        conversation,
        ...parts,
        now: () => 0,
        onFault: (fault) => expect.fail(String(fault)),
      });
      const reply = said('a3', 'assistant', 'Go on?');
      conversation.insert(said('u3', 'user', 'Well?'));
      conversation.insert(reply);
      await keeper.note({ type: 'reply-ended', item: reply } as SessionEvent);
      await keeper.close();
      return kept;
    };
    const next = ['u3', 'Well?', 'Go on?'];
    expect(await talk({ openReplies: [cut] })).toEqual([['u2', 'Count.', 'One two'], next]);
    expect(await talk({ openReplies: [] })).toEqual([next]);
    // Its user was named only now.
    expect(await talk({})).toEqual([next]);
  });
});
