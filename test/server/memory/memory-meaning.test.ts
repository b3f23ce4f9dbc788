import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { Embedder } from '../../../agents/embeddings/embedder.ts';
import { openSharedEmbedder } from '../../../agents/embeddings/shared-embedder.ts';
import { EngineError } from '../../../voices/engine.ts';
import { SessionMemory } from '../../../server/memory/session-memory.ts';
import { memoryFile, MemoryStore } from '../../../server/memory/store.ts';
import { Conversation } from '../../../server/session/history/conversation.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'dramatis-memory-meaning-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
const bond = { owner: '', user: 'bob', character: 'alice' };
const { signal } = new AbortController();
const user = (text: string) => ({ role: 'user', text }) as const;
const stores: MemoryStore[] = [];
afterEach(() => stores.splice(0).forEach((store) => store.close()));
let files = 0;

function newStore(...said: string[]): MemoryStore {
  const store = new MemoryStore(memoryFile(path.join(folder, String((files += 1)))));
  stores.push(store);
  for (const [index, asked] of said.entries())
    store.record(bond, { session: 's', item: `i${index}`, asked, answered: 'Oh.' }, [], index);
  return store;
}

/** Knows that weather and storms, and money and coins, belong together. */
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

function talk(store: MemoryStore, embedder: Embedder, faults: unknown[] = []): SessionMemory {
  const meanings = openSharedEmbedder(embedder);
  const written = {
    record: async (...args: Parameters<MemoryStore['record']>) => store.record(...args),
    keepPoint: async (...args: Parameters<MemoryStore['keepPoint']>) => store.keepPoint(...args),
  };
  const told = { onTurn: () => undefined, onEnd: () => undefined };
  const parts = { store: written, reader: store, owner: '', character: 'alice', now: () => 0, meanings, ...told };
  const memory = new SessionMemory({ ...parts, onFault: (fault) => faults.push(fault) });
  memory.begin({ id: 'now', conversation: new Conversation(0), user: 'bob', openReplies: [] });
  return memory;
}

/** What is under way in the background, none of it on a clock. */
async function settled(): Promise<void> {
  for (let round = 0; round < 10; round += 1) await turn();
}

const storm = 'A storm took the roof.';
const coins = 'I owe the miller three coins.';

describe('recall by embeddings', () => {
  it('recalls memories that share no word with the message and embeds each only once', async () => {
    const store = newStore(storm, coins);
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
    const store = newStore(storm, coins);
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
    const memory = talk(newStore(storm), twoTopics());
    const gone = { signal: AbortSignal.abort(new Error('gone')) };
    await expect(memory.recall([user('Weather?')], gone)).rejects.toThrow('gone');
  });

  it('deletes the embeddings of deleted and corrected memories and stores none for outdated text', async () => {
    const store = newStore(storm, coins);
    const said = { session: 's', item: 'f', asked: 'My name is Bob.', answered: '' };
    store.record(bond, said, [{ topic: 'name', text: 'My name is Bob.' }], 0);
    talk(store, twoTopics());
    await settled();
    const ids = ['t1', 't2', 't3', 'f1'];
    const known = (): string[] => [...store.points('two topics', ids).keys()];
    expect(known()).toEqual(ids);
    expect([...store.points('another', ids)]).toEqual([]);
    store.correct(bond, 't1', { asked: 'No storm came.' });
    store.correct(bond, 'f1', { text: 'His name is Rob.' });
    store.remove(bond, 't2');
    // The words of a fact are corrected in its turn, too.
    expect(known()).toEqual([]);
    store.keepPoint('two topics', { id: 't1', text: `${storm}\nOh.` }, Float32Array.of(1, 0));
    store.keepPoint('two topics', { id: 't2', text: `${coins}\nOh.` }, Float32Array.of(1, 0));
    expect(known()).toEqual([]);
    store.keepPoint('two topics', { id: 't1', text: 'No storm came.\nOh.' }, Float32Array.of(1, 0));
    expect(known()).toEqual(['t1']);
    store.erase(bond);
    expect(known()).toEqual([]);
  });
});

it('migrates a memory file of an older version and keeps its contents', async () => {
  const file = memoryFile(path.join(folder, 'old'));
  const store = new MemoryStore(file);
  store.record(bond, { session: 's', item: 'i', asked: storm, answered: 'Oh.' }, [], 0);
  store.close();
  const old = new DatabaseSync(file);
  old.exec('ALTER TABLE turns DROP COLUMN corrected; ALTER TABLE turns DROP COLUMN extracted; DROP TABLE chores');
  old.exec('DROP TRIGGER turns_corrected; DROP TRIGGER facts_corrected; DROP TABLE points; PRAGMA user_version = 1');
  old.close();
  const again = new MemoryStore(file);
  stores.push(again);
  const memory = talk(again, twoTopics());
  await settled();
  expect((await memory.recall([user('Is the weather bad?')], { signal }))[0]).toContain(storm);
  expect([...again.points('two topics', ['t1']).keys()]).toEqual(['t1']);
});
