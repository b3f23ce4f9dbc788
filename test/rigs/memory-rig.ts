import { memoryFile, MemoryStore } from '../../server/memory/store.ts';
import type { serve } from './serve-rig.ts';

/** The current contents of the memory file, read by another store. */
export function keptIn(dataDir: string, user = 'bob', owner = '') {
  const store = new MemoryStore(memoryFile(dataDir));
  const kept = store.list({ owner, user });
  store.close();
  return kept;
}

export type Call = ReturnType<Awaited<ReturnType<typeof serve>>['call']>;

/** Sends a typed message and waits for the reply. */
export async function say(call: Call, text: string): Promise<void> {
  const content = [{ type: 'input_text', text }];
  call.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } });
  call.send({ type: 'response.create', response: { output_modalities: ['text'] } });
  await call.until('response.done');
}
