import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, describe, expect, it } from 'vitest';
import { memoryFile, MemoryStore } from '../../../server/memory/store.ts';

const folders: string[] = [];
const stores: MemoryStore[] = [];
afterEach(() => {
  for (const store of stores.splice(0)) store.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function newFile(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'dramatis-memory-'));
  folders.push(folder);
  return memoryFile(folder);
}

function open(file = newFile()): MemoryStore {
  const store = new MemoryStore(file);
  stores.push(store);
  return store;
}

const bob = { owner: '', user: 'bob' };
const bond = { ...bob, character: 'alice' };
const turn = (item: string, asked: string, answered = 'Yes.') => ({ session: 's1', item, asked, answered });

describe('MemoryStore', () => {
  it('stores a turn with its facts and each fact with its source turn', () => {
    const store = open();
    store.record(bond, turn('i1', 'I live in Leeds.'), [{ topic: 'home', text: 'I live in Leeds.' }], 1_000);
    expect(store.list(bob)).toEqual([
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

  it('updates a turn that is recorded again, cut to what was heard', () => {
    const store = open();
    store.record(bond, turn('i1', 'Hello.', 'One two three four.'), [], 0);
    store.record(bond, turn('i1', 'Hello.', 'One two'), [], 0);
    expect(store.list(bob)).toMatchObject([{ answered: 'One two' }]);
    store.record(bond, turn('i1', '', ''), [], 0);
    expect(store.list(bob)).toEqual([]);
  });

  it('does not record a deleted turn again', () => {
    const store = open();
    store.record(bond, turn('i1', 'Hello.', 'One two three four.'), [], 0);
    store.remove(bob, 't1');
    store.record(bond, { ...turn('i1', 'Hello.', 'One two'), isKnown: true }, [], 0);
    expect(store.list(bob)).toEqual([]);
  });

  it('keeps one fact per topic, the latest, and no fact twice', () => {
    const store = open();
    store.record(bond, turn('i1', 'I live in Leeds.'), [{ topic: 'home', text: 'I live in Leeds.' }], 0);
    store.record(bond, turn('i2', 'I live in York.'), [{ topic: 'home', text: 'I live in York.' }], 0);
    store.record(bond, turn('i3', 'I live in york!'), [{ text: 'i live in york.' }], 0);
    const facts = store.list(bob).filter(({ kind }) => kind === 'fact');
    expect(facts).toMatchObject([{ text: 'I live in York.', source: 't2' }]);
  });

  it('separates the memories of different keys and characters', () => {
    const store = open();
    store.record(bond, turn('i1', 'Hello.'), [], 0);
    store.record({ ...bond, owner: 'other' }, { ...turn('i1', 'A secret.'), session: 's2' }, [], 0);
    store.record({ ...bond, character: 'holmes' }, { ...turn('i1', 'A case.'), session: 's3' }, [], 0);
    expect(store.list(bob)).toMatchObject([{ asked: 'A case.' }, { asked: 'Hello.' }]);
    expect(store.list(bob, { character: 'alice' })).toMatchObject([{ asked: 'Hello.' }]);
    expect(() => store.get(bob, 't2')).toThrow('There is no memory "t2"');
    expect(store.erase(bob)).toBe(2);
    expect(store.list({ owner: 'other', user: 'bob' })).toHaveLength(1);
  });

  it('corrects facts and turns and refuses the wrong fields', () => {
    const store = open();
    store.record(bond, turn('i1', 'I have a dock.'), [{ text: 'I have a dock.' }], 0);
    expect(store.correct(bob, 'f1', { text: 'I have a dog.' })).toMatchObject({
      text: 'I have a dog.',
      corrected: true,
    });
    expect(store.correct(bob, 't1', { asked: 'I have a dog.' })).toMatchObject({
      asked: 'I have a dog.',
      answered: 'Yes.',
    });
    expect(store.list(bob)).toMatchObject([{ text: 'I have a dog.' }, { asked: 'I have a dog.' }]);
    expect(() => store.correct(bob, 't1', { text: 'x' })).toThrow('`asked` and `answered`');
    expect(() => store.correct(bob, 'f1', { asked: 'x' })).toThrow('send `text`');
  });

  it('deletes a fact with its turn and the summary of that turn', () => {
    const store = open();
    store.record(bond, turn('i1', 'I fear geese.'), [{ text: 'I fear geese.' }], 0);
    store.record(bond, turn('i2', 'Good weather.'), [], 0);
    const made = { before: '', text: 'They fear geese.', turns: store.unsummarised(bond), atMs: 0, facts: [] };
    expect(store.summarise(bond, made)).toBe(true);
    expect(store.unsummarised(bond)).toEqual([]);
    store.remove(bob, 'f1');
    expect(store.list(bob)).toMatchObject([{ kind: 'turn', asked: 'Good weather.' }]);
    expect(store.unsummarised(bond)).toMatchObject([{ asked: 'Good weather.' }]);
  });

  it('refuses a summary of turns that were corrected or deleted meanwhile', () => {
    const store = open();
    store.record(bond, turn('i1', 'I fear geese.'), [], 0);
    const made = { before: '', text: 'They fear geese.', turns: store.unsummarised(bond), atMs: 0, facts: [] };
    store.remove(bob, 't1');
    expect(store.summarise(bond, made)).toBe(false);
    expect(store.summary(bond)).toBe('');
  });

  it('never reuses the id of a deleted memory', () => {
    const store = open();
    store.record(bond, turn('i1', 'One.'), [], 0);
    store.remove(bob, 't1');
    store.record(bond, turn('i2', 'Two.'), [], 0);
    expect(store.list(bob)).toMatchObject([{ id: 't2' }]);
  });

  it('lists turns in pages', () => {
    const store = open();
    for (let index = 1; index <= 5; index += 1) store.record(bond, turn(`i${index}`, `Turn ${index}.`), [], 0);
    expect(store.list(bob, { most: 2 })).toMatchObject([{ id: 't5' }, { id: 't4' }]);
    expect(store.list(bob, { most: 2, before: 't4' })).toMatchObject([{ id: 't3' }, { id: 't2' }]);
  });
});

describe('memory file', () => {
  it('explains what to do if the memory file is not a database', () => {
    const file = newFile();
    open(file).close();
    stores.pop();
    writeFileSync(file, 'This is no database at all, but long enough to look like one.'.repeat(100));
    expect(() => open(file)).toThrow(/cannot be read .*Restore the file from a backup, or move it away/);
  });

  it('explains what to do if pages of the memory file are damaged', () => {
    const file = newFile();
    const store = open(file);
    for (let index = 0; index < 200; index += 1) store.record(bond, turn(`i${index}`, 'word '.repeat(100)), [], 0);
    store.close();
    stores.pop();
    const bytes = readFileSync(file);
    bytes.fill(0x55, 8_192, bytes.length - 4_096);
    writeFileSync(file, bytes);
    expect(() => open(file)).toThrow(/cannot be read/);
  });

  it('refuses a memory file of a newer version', () => {
    const file = newFile();
    open(file).close();
    stores.pop();
    const database = new DatabaseSync(file);
    database.exec('PRAGMA user_version = 99');
    database.close();
    expect(() => open(file)).toThrow('written by a newer Dramatis (version 99)');
  });
});
