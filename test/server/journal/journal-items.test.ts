import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { Journal, readJournal } from '../../../server/journal/journal.ts';
import { restore } from '../../../server/journal/restore.ts';
import type { CallItem, Item, MessageItem } from '../../../server/session/contract/item.ts';
import { messagesOf } from '../../../server/session/history/conversation.ts';

const folders: string[] = [];
afterEach(async () => {
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true })));
});

async function journal(): Promise<{ file: string; journal: Journal }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-journal-'));
  folders.push(folder);
  const file = path.join(folder, 'a.jsonl');
  return { file, journal: new Journal(file) };
}

const status = 'completed' as const;
const call: CallItem = { id: 'c', type: 'call', status, callId: 'call_1', name: 'look_up', arguments: '{}' };
const spoken = (id: string, type: 'user' | 'assistant', text: string): MessageItem => ({
  id,
  type: 'message',
  role: type,
  status,
  content: [{ type: 'text', text }],
});

describe('a journal', () => {
  it('keeps calls, what they brought back, and what only the client understands', async () => {
    const { file, journal: written } = await journal();
    written.write({ type: 'open', id: 'sess_1', character: 'alice', model: 'alice' });
    const items: readonly Item[] = [
      { ...spoken('u', 'user', 'Will it rain?'), content: [{ type: 'opaque', value: { type: 'input_image' } }] },
      { id: 'o', type: 'call-output', status, callId: 'call_1', output: 'It rains.' },
      { id: 'm', type: 'opaque', status, value: { type: 'mcp_list_tools', tools: [] } },
    ];
    written.note({ type: 'item-added', item: items[0]!, previousItemId: null });
    written.note({ type: 'reply-call', replyId: 'r', item: call, inConversation: true, previousItemId: 'u' });
    written.note({ type: 'item-added', item: items[1]!, previousItemId: 'c' });
    written.note({ type: 'item-added', item: items[2]!, previousItemId: 'o' });
    written.close();
    const restored = restore(readJournal(file) ?? [], 400);
    expect(restored?.items).toEqual([items[0], call, items[1], items[2]]);
    expect(messagesOf(restored?.items ?? [])).toMatchObject([{ calls: [{ callId: 'call_1' }] }, { text: 'It rains.' }]);
  });

  it('keeps nothing of answers out of band', async () => {
    const { file, journal: written } = await journal();
    written.write({ type: 'open', id: 'sess_1', character: 'alice', model: 'alice' });
    const base = { replyId: 'r', inConversation: false, previousItemId: null };
    written.note({ type: 'reply-item', ...base, item: spoken('a', 'assistant', 'Aside.') });
    written.note({ type: 'reply-call', ...base, item: call });
    written.close();
    expect(restore(readJournal(file) ?? [], 400)).toMatchObject({ items: [], openReplies: [] });
  });

  it('forgot who spoke in a scene and what they did: a scene that goes on after a restart knows both', async () => {
    const { file, journal: written } = await journal();
    written.write({ type: 'open', id: 'sess_1', character: 'scene:garden', model: 'scene:garden' });
    const speaker = { id: 'alice', name: 'Alice' };
    const nods = { kind: 'action', text: 'nods', startMs: 0 } as const;
    const whole: MessageItem = { ...spoken('a', 'assistant', 'It rains.'), speaker, emotion: 'sad', cues: [nods] };
    const cut: MessageItem = { ...spoken('b', 'assistant', 'Does it'), speaker: { id: 'holmes', name: 'Holmes' } };
    for (const [replyId, item, previousItemId] of [['r', whole, null] as const, ['s', cut, 'a'] as const]) {
      const base = { replyId, item, inConversation: true, previousItemId } as const;
      written.note({ type: 'reply-started', speaks: false, maxTokens: 9, echo: null, ...base });
      written.note({ type: 'reply-item', ...base });
      written.note({ type: 'reply-cue', replyId, itemId: item.id, cue: nods });
      written.note({ type: 'reply-text', replyId, text: 'It rains.', words: [] });
      if (replyId === 'r') written.note({ type: 'reply-ended', replyId, item: whole, calls: [], end: {} as never });
    }
    written.close();
    const restored = restore(readJournal(file) ?? [], 400);
    expect(restored?.items[0]).toEqual(whole);
    expect(restored?.items[1]).toMatchObject({ speaker: { name: 'Holmes' }, cues: [nods], status: 'incomplete' });
    expect(messagesOf(restored?.items ?? [])).toEqual([
      { role: 'assistant', name: 'Alice', text: '(nods) It rains.' },
      { role: 'assistant', name: 'Holmes', text: '(nods) It rains.' },
    ]);
  });

  it('knows a session that only listens', async () => {
    const { file, journal: written } = await journal();
    written.write({ type: 'open', id: 'sess_1', character: 'alice', model: 'alice', intent: 'transcription' });
    written.close();
    expect(restore(readJournal(file) ?? [], 400)?.intent).toBe('transcription');
  });
});
