import { appendFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { Journal, journalFile, readJournal, sweepJournals } from '../../../server/journal/journal.ts';
import { restore } from '../../../server/journal/restore.ts';
import type { CallItem, Item, MessageItem } from '../../../server/session/contract/item.ts';
import { messagesOf } from '../../../server/session/history/conversation.ts';
import { serve } from '../../rigs/serve-rig.ts';

const folders: string[] = [];
afterEach(async () => {
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true })));
});

async function dataFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-journal-'));
  folders.push(folder);
  return folder;
}

async function journal(): Promise<{ file: string; journal: Journal }> {
  const file = path.join(await dataFolder(), 'a.jsonl');
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

describe('Journal', () => {
  it('restores function calls, their outputs and opaque items', async () => {
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

  it('restores nothing of out-of-band replies', async () => {
    const { file, journal: written } = await journal();
    written.write({ type: 'open', id: 'sess_1', character: 'alice', model: 'alice' });
    const base = { replyId: 'r', inConversation: false, previousItemId: null };
    written.note({ type: 'reply-item', ...base, item: spoken('a', 'assistant', 'Aside.') });
    written.note({ type: 'reply-call', ...base, item: call });
    written.close();
    expect(restore(readJournal(file) ?? [], 400)).toMatchObject({ items: [], openReplies: [] });
  });

  it('restores speakers and cues of a scene after a restart', async () => {
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

  it('restores the intent of a transcription session', async () => {
    const { file, journal: written } = await journal();
    written.write({ type: 'open', id: 'sess_1', character: 'alice', model: 'alice', intent: 'transcription' });
    written.close();
    expect(restore(readJournal(file) ?? [], 400)?.intent).toBe('transcription');
  });

  it('removes the journal of an ended session and sweeps abandoned ones', async () => {
    const folder = await dataFolder();
    const ended = new Journal(journalFile(folder, 'ended'));
    ended.write({ type: 'open', id: 'sess_1', character: 'alice', model: 'alice' });
    ended.remove();
    const left = new Journal(journalFile(folder, 'left'));
    left.write({ type: 'open', id: 'sess_2', character: 'alice', model: 'alice' });
    left.close();
    expect(await readdir(path.join(folder, 'sessions'))).toEqual(['left.jsonl']);
    sweepJournals(folder, -1);
    expect(await readdir(path.join(folder, 'sessions'))).toEqual([]);
  });

  it('restores items in order and ignores a truncated last line', async () => {
    const folder = await dataFolder();
    const file = journalFile(folder, 'cut');
    const journal = new Journal(file);
    const user = (id: string) => ({
      ...spoken(id, 'user', id),
      content: [{ type: 'text' as const, text: id }],
    });
    journal.write({ type: 'open', id: 'sess_3', character: 'alice', model: 'alice' });
    journal.reserve(5);
    journal.write({ type: 'item', item: user('a'), after: null });
    journal.write({ type: 'item', item: user('c'), after: 'a' });
    journal.write({ type: 'item', item: user('b'), after: 'a' });
    journal.write({ type: 'deleted', itemId: 'c' });
    journal.close();
    await appendFile(file, '{"type":"item","item":{"id":"d"');
    const restored = restore(readJournal(file) ?? [], 400);
    expect(restored?.items.map((item) => item.id)).toEqual(['a', 'b']);
    expect(restored?.sequence).toBeGreaterThanOrEqual(5);
    expect(readJournal(journalFile(folder, 'none'))).toBeUndefined();
  });
});

describe('shutdown', () => {
  it('leaves stored sessions to the next server when it shuts down', async () => {
    const flags = { store: true, dataDir: await dataFolder() };
    const first = await serve({ flags });
    const before = first.call('?model=alice&x=resume');
    const { session } = await before.until('session.created');
    const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'I am Bob.' }] };
    before.send({ type: 'conversation.item.create', item: { id: 'q1', ...item } });
    const { x_seq: last } = await before.until('conversation.item.done');
    await first.app.close();
    expect((await before.closed).code).toBe(1001);

    const next = await serve({ flags });
    const after = next.call(`?resume=${session.x_dramatis.resume.token}&after=${last}&x=resume`);
    expect(await after.until('x_dramatis.resumed')).toMatchObject({ restarted: true });
    after.send({ type: 'conversation.item.retrieve', item_id: 'q1' });
    expect((await after.until('conversation.item.retrieved'))['item']).toMatchObject(item);
  });
});
