import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach } from 'vitest';
import { memoryFile, MemoryStore } from '../../server/memory/store.ts';
import type { serve } from './serve-rig.ts';

const folders: string[] = [];
const stores: MemoryStore[] = [];
afterEach(() => {
  for (const store of stores.splice(0)) store.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** A data folder for one test. */
export function dataFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'dramatis-memory-'));
  folders.push(folder);
  return folder;
}

/** A store of memories for one test, over a folder of its own or a given file. */
export function newStore(file = memoryFile(dataFolder())): MemoryStore {
  const store = new MemoryStore(file);
  stores.push(store);
  return store;
}

export const bob = { owner: '', user: 'bob' };
/** Bob and Alice. */
export const bond = { ...bob, character: 'alice' };

/** The current contents of the memory file, read by another store. */
export function keptIn(dataDir: string, user = 'bob', owner = '') {
  const store = new MemoryStore(memoryFile(dataDir));
  const kept = store.list({ owner, user });
  store.close();
  return kept;
}

type Server = Awaited<ReturnType<typeof serve>>;
export type Call = ReturnType<Server['call']>;

/** Opens a session of Bob with Alice, or with this query. */
export async function begin(server: Server, query = '?model=alice&user=bob'): Promise<Call> {
  const call = server.call(query);
  await call.until('session.created');
  return call;
}

/** Sends a typed message and waits for the reply. */
export async function say(call: Call, text: string): Promise<void> {
  const content = [{ type: 'input_text', text }];
  call.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } });
  call.send({ type: 'response.create', response: { output_modalities: ['text'] } });
  const { response } = await call.until('response.done');
  if (response.status !== 'completed') throw new Error(`the reply is ${response.status}`);
}
