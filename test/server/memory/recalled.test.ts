import { DatabaseSync } from 'node:sqlite';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Embedder } from '../../../agents/embeddings/embedder.ts';
import { openSharedEmbedder } from '../../../agents/embeddings/shared-embedder.ts';
import { openRecall } from '../../../server/memory/recall.ts';
import { SessionMemory } from '../../../server/memory/session-memory.ts';
import { memoryFile, MemoryStore } from '../../../server/memory/store/store.ts';
import { Conversation } from '../../../server/session/history/conversation.ts';
import { EngineError } from '../../../voices/engine.ts';
import { until } from '../../rigs/cluster-rig.ts';
import {
  besides,
  bond,
  dataFolder,
  newStore,
  newStoreIn,
  storeKinds,
  twoStoresIn,
  type StoreKind,
  type TestStore,
} from '../../rigs/memory-rig.ts';

const dayMs = 86_400_000;
const user = (text: string) => ({ role: 'user', text }) as const;

/** A store in which Bob has said this to Alice, one thing a day. */
async function storeOf(kind: StoreKind, said: readonly string[]): Promise<TestStore> {
  return tell(await newStoreIn(kind), said);
}

async function tell(store: TestStore, said: readonly string[]): Promise<TestStore> {
  for (const [index, asked] of said.entries())
    await store.record(
      bond,
      { session: 's', item: `i${index}`, asked, answered: `Answer ${index}.` },
      [],
      index * dayMs,
    );
  return store;
}

describe.each(storeKinds)('openRecall on %s', (kind) => {
  it('recalls related memories with their age, except those in the current conversation', async () => {
    const store = await storeOf(kind, ['The roses are in bloom.', 'I saw a heron by the river.']);
    const recall = openRecall(store, bond, () => 3 * dayMs);
    expect(await recall([user('Have you seen the roses?')])).toEqual([
      'They said 3 days ago: The roses are in bloom. You answered: Answer 0.',
    ]);
    const talk = [
      user('The roses are in bloom.'),
      { role: 'assistant', text: 'Answer 0.' } as const,
      user('Roses, I said.'),
    ];
    expect(await recall(talk)).toEqual([]);
  });

  it('recalls memories as they are now, corrected or deleted also by another server', async () => {
    const [store, other] = await twoStoresIn(kind);
    await tell(store, ['The roses are in bloom.']);
    const recall = openRecall(store, bond, () => 0);
    await recall.read();
    await other.correct(bond, 't1', { asked: 'The roses are dead.' });
    expect(await recall([user('The roses?')])).toEqual([
      'They said today: The roses are dead. You answered: Answer 0.',
    ]);
    await other.remove(bond, 't1');
    expect(await recall([user('The roses?')])).toEqual([]);
  });

  it('recalls the latest facts on any topic, each once', async () => {
    const store = await newStoreIn(kind);
    const said = { session: 's', item: 'f', asked: 'My name is Bob.', answered: 'Hello.' };
    await store.record(bond, said, [{ topic: 'name', text: 'My name is Bob.' }], 0);
    const recall = openRecall(store, bond, () => dayMs);
    expect(await recall([user('The weather is fine.')])).toEqual(['They told you yesterday: My name is Bob.']);
    expect(await recall([user('What is my name, Bob?')])).toEqual(['They told you yesterday: My name is Bob.']);
  });
});

const { signal } = new AbortController();
/** An embedder that relates weather to storms and money to coins. */
function twoTopics(isDown = (): boolean => false): Embedder & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    name: 'two topics',
    model: 'two topics',
    asked,
    async embed(texts) {
      asked.push(...texts);
      if (isDown()) throw new EngineError('two topics', 'ENGINE_UNAVAILABLE', 'down');
      return texts.map((text) =>
        Float32Array.of(/weather|rain|storm/i.test(text) ? 1 : 0, /money|coin|pay/i.test(text) ? 1 : 0),
      );
    },
  };
}

function talk(store: TestStore, embedder: Embedder, faults: unknown[] = []): SessionMemory {
  const shared = openSharedEmbedder(embedder);
  const told = { onTurn: () => undefined, onEnd: () => undefined, onLoss: () => undefined };
  const parts = {
    store,
    owner: '',
    character: 'alice',
    now: () => 0,
    embedder: shared,
    ...told,
  };
  const memory = new SessionMemory({ ...parts, onFault: (fault) => faults.push(fault) });
  memory.begin({ id: 'now', conversation: new Conversation(0), user: 'bob', openReplies: [] });
  return memory;
}

/** Waits for background work, none of which uses a clock. */
async function settled(): Promise<void> {
  for (let round = 0; round < 10; round += 1) await turn();
}

const storm = 'A storm took the roof.';
const coins = 'I owe the miller three coins.';

describe('recall by embeddings', () => {
  it('recalls memories that share no word with the message and embeds each only once', async () => {
    const store = await storeOf('a file', [storm, coins]);
    const embedder = twoTopics();
    const first = talk(store, embedder);
    await settled();
    const remark = [user('Is the weather bad?')];
    expect((await first.recall(remark, { signal }))[0]).toContain(storm);
    await first.close();
    const later = twoTopics();
    const second = talk(store, later);
    await settled();
    expect((await second.recall(remark, { signal }))[0]).toContain(storm);
    expect(later.asked).toEqual(['Is the weather bad?']);
  });

  it('recalls by keywords while the embedding server is down and embeds the rest in the next session', async () => {
    const store = await storeOf('a file', [storm, coins]);
    const faults: unknown[] = [];
    let isDown = true;
    const embedder = twoTopics(() => isDown);
    const memory = talk(store, embedder, faults);
    await settled();
    expect(await memory.recall([user('Is the weather bad?')], { signal })).toEqual([]);
    expect((await memory.recall([user('The roof?')], { signal }))[0]).toContain(storm);
    expect(faults).toEqual([]);
    isDown = false;
    const next = talk(store, embedder);
    await settled();
    expect((await next.recall([user('Is the weather bad?')], { signal }))[0]).toContain(storm);
  });

  it('stops the recall when the reply is cancelled', async () => {
    const memory = talk(await storeOf('a file', [storm]), twoTopics());
    const gone = { signal: AbortSignal.abort(new Error('gone')) };
    await expect(memory.recall([user('Weather?')], gone)).rejects.toThrow('gone');
  });

  it.each(storeKinds)(
    'deletes the embeddings of deleted and corrected memories and stores none for outdated text in %s',
    async (kind) => {
      const store = await storeOf(kind, [storm, coins]);
      const said = { session: 's', item: 'f', asked: 'My name is Bob.', answered: '' };
      await store.record(bond, said, [{ topic: 'name', text: 'My name is Bob.' }], 0);
      talk(store, twoTopics());
      const ids = ['t1', 't2', 't3', 'f1'];
      const known = async (): Promise<string[]> => [...(await store.embeddings('two topics', ids)).keys()].toSorted();
      await until(async () => (await known()).length === ids.length);
      expect([...(await store.embeddings('another', ids))]).toEqual([]);
      await store.correct(bond, 't1', { asked: 'No storm came.' });
      await store.correct(bond, 'f1', { text: 'His name is Rob.' });
      await store.remove(bond, 't2');
      // The words of a fact are corrected in its turn, too.
      expect(await known()).toEqual([]);
      await store.keepEmbedding('two topics', { id: 't1', text: `${storm}\nAnswer 0.` }, Float32Array.of(1, 0));
      await store.keepEmbedding('two topics', { id: 't2', text: `${coins}\nAnswer 1.` }, Float32Array.of(1, 0));
      expect(await known()).toEqual([]);
      await store.keepEmbedding('two topics', { id: 't1', text: 'No storm came.\nAnswer 0.' }, Float32Array.of(1, 0));
      expect(await known()).toEqual(['t1']);
      await store.erase(bond);
      expect(await known()).toEqual([]);
    },
  );
});

it('migrates a memory file of an older version and keeps its contents', async () => {
  const file = memoryFile(dataFolder());
  const store = new MemoryStore(file);
  store.record(bond, { session: 's', item: 'i', asked: storm, answered: 'Oh.' }, [], 0);
  store.close();
  const old = new DatabaseSync(file);
  old.exec('ALTER TABLE turns DROP COLUMN corrected; ALTER TABLE turns DROP COLUMN extracted; DROP TABLE chores');
  old.exec(
    'DROP TRIGGER turns_corrected; DROP TRIGGER facts_corrected; DROP TABLE points; DROP TABLE states; PRAGMA user_version = 1',
  );
  old.close();
  const again = besides(newStore(file));
  const memory = talk(again, twoTopics());
  await settled();
  expect((await memory.recall([user('Is the weather bad?')], { signal }))[0]).toContain(storm);
  expect([...(await again.embeddings('two topics', ['t1'])).keys()]).toEqual(['t1']);
});
