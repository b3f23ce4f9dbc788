import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { factsIn } from '../../../agents/memory/facts.ts';
import { memoryFile, type MemoryStore } from '../../../server/memory/store/store.ts';
import { openStoreThread } from '../../../server/memory/store/store-thread.ts';
import { bob, bond, dataFolder, newStore, newStoreIn, storeKinds, type TestStore } from '../../rigs/memory-rig.ts';

const threads: { close(): unknown }[] = [];
afterEach(async () => {
  for (const thread of threads.splice(0)) await thread.close();
});

const said = (store: TestStore, item: string, asked: string, answered = 'Yes.'): Promise<void> =>
  store.record(bond, { session: 's1', item, asked, answered }, factsIn(asked), 0);
const sumUp = async (
  store: TestStore,
  text: string,
  facts: { turn: number; text: string }[] = [],
): Promise<boolean> => {
  const turns = await store.unsummarised(bond);
  return store.summarise(bond, { before: await store.summary(bond), turns, text, facts, atMs: 0 });
};
const factsOf = async (store: TestStore): Promise<string[]> =>
  (await store.list(bob)).flatMap((memory) => (memory.kind === 'fact' ? [memory.text] : []));

describe.each(storeKinds)('deleted fact in %s', (kind) => {
  it('deletes every turn that states a deleted fact, and the summary of those turns', async () => {
    const store = await newStoreIn(kind);
    await said(store, 'i1', 'I fear geese.');
    await said(store, 'i2', 'Good weather.');
    await said(store, 'i3', 'As ever: i fear geese. Do you?');
    await sumUp(store, 'They fear geese.');
    await store.remove(bob, 'f1');
    expect(await store.list(bob)).toMatchObject([{ kind: 'turn', asked: 'Good weather.' }]);
    expect(await store.unsummarised(bond)).toMatchObject([{ asked: 'Good weather.' }]);
  });

  it('does not extract a deleted fact again from the turns that are left', async () => {
    const store = await newStoreIn(kind);
    await said(store, 'i1', 'Geese, you know.');
    await said(store, 'i2', 'They give me the creeps.');
    await sumUp(store, 'They fear geese.', [{ turn: 1, text: 'Fears geese.' }]);
    expect(await factsOf(store)).toEqual(['Fears geese.']);
    await store.remove(bob, 'f1');
    expect(await sumUp(store, 'They are afraid.', [{ turn: 2, text: 'Fears geese.' }])).toBe(true);
    expect(await factsOf(store)).toEqual([]);
    // Later statements count.
    await said(store, 'i3', 'I fear geese.');
    expect(await factsOf(store)).toEqual(['I fear geese.']);
  });

  it('does not record a deleted turn again when more is known of what was heard', async () => {
    const store = await newStoreIn(kind);
    await said(store, 'i1', 'I fear geese.', 'One two three.');
    await store.remove(bob, 'f1');
    const cut = { session: 's1', item: 'i1', asked: 'I fear geese.', answered: 'One', isKnown: true };
    await store.record(bond, cut, factsIn(cut.asked), 0);
    expect(await store.list(bob)).toEqual([]);
  });
});

describe.each(storeKinds)('correction in %s', (kind) => {
  it('corrects facts and turns and refuses the wrong fields', async () => {
    const store = await newStoreIn(kind);
    await said(store, 'i1', 'I have a dock.');
    expect(await store.correct(bob, 'f1', { text: 'I have a dog.' })).toMatchObject({
      text: 'I have a dog.',
      corrected: true,
    });
    expect(await store.correct(bob, 't1', { asked: 'I have a dog.' })).toMatchObject({
      asked: 'I have a dog.',
      answered: 'Yes.',
    });
    expect(await store.list(bob)).toMatchObject([{ text: 'I have a dog.' }, { asked: 'I have a dog.' }]);
    await expect(store.correct(bob, 't1', { text: 'x' })).rejects.toThrow('`asked` and `answered`');
    await expect(store.correct(bob, 'f1', { asked: 'x' })).rejects.toThrow('send `text`');
  });

  it('keeps the correction of a turn even if the client reports the heard position later', async () => {
    const store = await newStoreIn(kind);
    await said(store, 'i1', 'I have a dock.', 'One two three.');
    await store.correct(bob, 't1', { asked: 'I have a dog.' });
    await said(store, 'i1', 'I have a dock.', 'One');
    expect(await store.list(bob)).toMatchObject([{ asked: 'I have a dog.', answered: 'One two three.' }]);
  });

  it('corrects a fact in its turn too and drops the summary that stated it', async () => {
    const store = await newStoreIn(kind);
    await said(store, 'i1', 'Well. I have a dock.');
    await sumUp(store, 'They have a dock.');
    await store.correct(bob, 'f1', { text: 'I have a dog.' });
    expect(await store.summary(bond)).toBe('');
    expect(await store.unsummarised(bond)).toMatchObject([{ asked: 'Well. I have a dog.' }]);
    await sumUp(store, 'They have a dog.', [{ turn: 1, text: 'Has a dock.' }]);
    expect(await factsOf(store)).toEqual(['I have a dog.']);
  });

  it('passes corrected facts to the next summary', async () => {
    const store = await newStoreIn(kind);
    await said(store, 'i1', 'I live in Leeds.');
    for (let item = 2; item < 60; item += 1) await said(store, `i${item}`, 'And so on, and on. '.repeat(20));
    await store.correct(bob, 'f1', { text: 'I live in York.' });
    expect((await store.outgrown(bond))?.corrected).toEqual(['I live in York.']);
  });

  it('drops a corrected summary for good when one of its turns is deleted', async () => {
    const store = await newStoreIn(kind);
    await said(store, 'i1', 'I fear geese.');
    await said(store, 'i2', 'I hate ducks.');
    await sumUp(store, 'They fear geese and ducks.');
    await store.correct(bob, 's1', { text: 'They fear geese.' });
    await store.remove(bob, 't1');
    expect(await store.summary(bond)).toBe('');
    expect(await store.unsummarised(bond)).toEqual([]);
  });

  it('refuses a summary of turns that were corrected or deleted in the meantime', async () => {
    const store = await newStoreIn(kind);
    await said(store, 'i1', 'I fear geese.');
    const made = { before: '', text: 'They fear geese.', turns: await store.unsummarised(bond), atMs: 0, facts: [] };
    await store.remove(bob, 't1');
    expect(await store.summarise(bond, made)).toBe(false);
    expect(await store.summary(bond)).toBe('');
  });
});

/** Fills a store; every third turn is Xyzzyplugh's. Turns that grow and shrink make SQLite move rows and leave copies behind. */
function fill(store: MemoryStore): void {
  let state = 1;
  const random = (below: number): number => (state = (state * 48_271) % 2_147_483_647) % below;
  for (let item = 0; item < 400; item += 1)
    for (const each of [item, random(item + 1)]) {
      const [user, word] = each % 3 === 0 ? ['xyzzyplugh', 'xyzzyplugh'] : ['bob', 'harmless'];
      const words = (most: number): string => `${word} `.repeat(1 + random(most));
      const asked = words(random(10) === 0 ? 500 : 40);
      store.record({ ...bond, user }, { session: 's', item: `${word}${each}`, asked, answered: words(40) }, [], each);
    }
}

describe('erasure', () => {
  const onDisk = (file: string): string => [file, `${file}-wal`].map((one) => readFileSync(one, 'latin1')).join('');
  const xyzzy = { owner: '', user: 'xyzzyplugh' };

  it('leaves no trace of an erased user in the memory file once the erasure is answered', async () => {
    const file = memoryFile(dataFolder());
    const store = newStore(file);
    fill(store);
    const thread = await openStoreThread(file);
    threads.push(thread);
    expect(onDisk(file)).toContain('xyzzyplugh');
    expect(await thread.erase(xyzzy)).toBe(134);
    expect(onDisk(file)).not.toContain('xyzzyplugh');
    expect(store.list(bob).length).toBeGreaterThan(200);
  });

  it('purges the memory file at the next start if the server was killed after an erasure', async () => {
    const file = memoryFile(dataFolder());
    const killed = newStore(file);
    killed.record(bond, { session: 's1', item: 'i1', asked: 'xyzzyplugh. '.repeat(100), answered: '' }, [], 0);
    killed.erase(bob);
    const next = await openStoreThread(file);
    await next.close();
    expect(killed.purge()).toBe(true);
    expect(onDisk(file)).not.toContain('xyzzyplugh');
  });
});

describe.each(storeKinds)('moving memories in %s', (kind) => {
  const guest = { ...bond, user: 'guest' };

  it('moves a guest’s memories and facts to a user and summarizes them again there', async () => {
    const store = await newStoreIn(kind);
    await said(store, 'i1', 'I fear geese.');
    await sumUp(store, 'They fear geese.');
    await store.record(
      guest,
      { session: 's2', item: 'g1', asked: 'I like tea.', answered: '' },
      factsIn('I like tea.'),
      0,
    );
    await store.summarise(guest, {
      before: '',
      turns: await store.unsummarised(guest),
      text: 'Tea.',
      facts: [],
      atMs: 0,
    });
    expect(await store.move({ owner: '', user: 'guest' }, bob)).toBe(3);
    expect(await store.list({ owner: '', user: 'guest' })).toEqual([]);
    expect(await factsOf(store)).toEqual(['I like tea.', 'I fear geese.']);
    expect(await store.summary(bond)).toBe('They fear geese.');
    expect(await store.unsummarised(bond)).toMatchObject([{ asked: 'I like tea.' }]);
  });

  it('moves the memories of one API key to another with users and summaries kept apart', async () => {
    const store = await newStoreIn(kind);
    await said(store, 'i1', 'I fear geese.');
    await sumUp(store, 'They fear geese.');
    await store.record(guest, { session: 's2', item: 'g1', asked: 'I like tea.', answered: '' }, [], 0);
    expect(await store.move({ owner: '' }, { owner: 'game' })).toBe(4);
    expect(await store.people()).toMatchObject([
      { owner: 'game', user: 'bob', turns: 1, facts: 1 },
      { owner: 'game', user: 'guest', turns: 1 },
    ]);
    expect(await store.summary({ ...bond, owner: 'game' })).toBe('They fear geese.');
  });
});
