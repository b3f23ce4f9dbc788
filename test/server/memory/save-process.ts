import { createInterface } from 'node:readline';
import { Saves } from '../../../server/memory/saves.ts';
import { memoryFile } from '../../../server/memory/store/store.ts';
import { openStoreThread } from '../../../server/memory/store/store-thread.ts';
import type { SavedUser } from '../../../server/memory/store/saved.ts';

/**
 * Memories in a process to be killed: a program that loads, for each line with a number, a user with that many turns, and
 * writes the number once all of it is loaded. First it writes what it finds, as a save.
 */
const [dataDir = ''] = process.argv.slice(2);
const bob = { owner: '', user: 'bob' };

export function userOf(turns: number): SavedUser {
  const character = 'alice';
  const kept = { at: 0, summarised: 0, corrected: 0, extracted: 0 };
  return {
    turns: Array.from({ length: turns }, (_, index) => ({
      character,
      asked: `${index} of ${turns}`,
      answered: 'Yes.',
      ...kept,
    })),
    facts: [{ character, turn: turns - 1, topic: null, text: `I said ${turns} things.`, at: 0, corrected: 0 }],
    summaries: [],
    states: [{ character, name: 'feelings', value: JSON.stringify({ turns }) }],
  };
}

if (dataDir !== '') {
  const store = await openStoreThread(memoryFile(dataDir));
  const saves = new Saves(store, new Map(), () => 'a key of this test');
  console.log(JSON.stringify(await saves.save(bob)));
  let number = 0;
  for await (const line of createInterface({ input: process.stdin })) {
    await store.load(bob, userOf(Number(line)), { session: `load ${process.pid} ${(number += 1)}`, at: 0 });
    console.log(line);
  }
}
