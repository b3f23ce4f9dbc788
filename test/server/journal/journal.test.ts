import { appendFile, mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { JournalFile, journalFile, readJournal, sweepJournals } from '../../../server/journal/journal-file.ts';
import { Journal } from '../../../server/journal/journal.ts';
import { journalVersion } from '../../../server/journal/lines.ts';
import { restore } from '../../../server/journal/restore.ts';
import type { CallItem, Item, MessageItem } from '../../../server/session/contract/item.ts';
import { hashOf } from '../../../server/connections/resumable-sessions.ts';
import { messagesOf } from '../../../server/session/history/conversation.ts';
import { calmFeelings } from '../../../agents/feelings.ts';
import { recordConnection } from '../../rigs/connection-rig.ts';
import { serve } from '../../rigs/serve-rig.ts';
import { testFolder } from '../../fakes/test-folder.ts';

async function journal(): Promise<{ file: string; journal: Journal }> {
  const file = path.join(testFolder(), 'a.jsonl');
  return { file, journal: new Journal(new JournalFile(file)) };
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
    void written.close();
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
    void written.close();
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
    void written.close();
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
    void written.close();
    expect(restore(readJournal(file) ?? [], 400)?.intent).toBe('transcription');
  });

  it('removes the journal of an ended session and sweeps abandoned ones', async () => {
    const folder = testFolder();
    const ended = new Journal(new JournalFile(journalFile(folder, 'ended')));
    ended.write({ type: 'open', id: 'sess_1', character: 'alice', model: 'alice' });
    ended.remove();
    const left = new Journal(new JournalFile(journalFile(folder, 'left')));
    left.write({ type: 'open', id: 'sess_2', character: 'alice', model: 'alice' });
    void left.close();
    expect(await readdir(path.join(folder, 'sessions'))).toEqual(['left.jsonl']);
    sweepJournals(folder, -1);
    expect(await readdir(path.join(folder, 'sessions'))).toEqual([]);
  });

  it('restores items in order and ignores a truncated last line', async () => {
    const folder = testFolder();
    const file = journalFile(folder, 'cut');
    const journal = new Journal(new JournalFile(file));
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
    void journal.close();
    await appendFile(file, '{"type":"item","item":{"id":"d"');
    const restored = restore(readJournal(file) ?? [], 400);
    expect(restored?.items.map((item) => item.id)).toEqual(['a', 'b']);
    expect(restored?.sequence).toBeGreaterThanOrEqual(5);
    expect(readJournal(journalFile(folder, 'none'))).toBeUndefined();
  });
});

describe('a journal that cannot be read', () => {
  const opening = '{"type":"open","id":"sess_1","character":"alice","model":"alice"}\n';

  it('is an error with a remedy if a line in its middle is damaged, not a session with a hole', async () => {
    const file = path.join(testFolder(), 'a.jsonl');
    await writeFile(file, `${opening}{"type":"item","item":{"id":"d"\n{"type":"sequence","upTo":9}\n`);
    expect(() => readJournal(file)).toThrow(
      `${file}:2: this line of the journal cannot be read. Restore the file from a copy, or delete the file`,
    );
  });

  it('is an error with a remedy if a newer version of Dramatis has written it', async () => {
    const file = path.join(testFolder(), 'a.jsonl');
    await writeFile(file, opening.replace('}', ',"version":99}'));
    expect(() => readJournal(file)).toThrow(
      new RegExp(`has version 99; this Dramatis reads version ${journalVersion}\\. Start the newer one, or`, 'u'),
    );
  });

  it('is told to the client that resumes, and logged with its place', async () => {
    const flags = { store: true, dataDir: testFolder() };
    const token = 'x'.repeat(43);
    const file = journalFile(flags.dataDir, hashOf(token));
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, `${opening}nonsense\n${opening}`);
    const server = await serve({ flags });
    const client = server.call(`?resume=${token}&after=1&x=resume`);
    expect((await client.until('error'))['error']).toMatchObject({
      code: 'session_not_resumable',
      message: expect.stringContaining('journal'),
    });
    expect(server.log.join('')).toContain(`${file}:2: this line of the journal cannot be read`);
  });

  it('continues after a line that a kill has cut, without spoiling the next one', async () => {
    const file = path.join(testFolder(), 'a.jsonl');
    await writeFile(file, `${opening}{"type":"sequence","up`);
    const next = new Journal(new JournalFile(file));
    next.write({ type: 'sequence', upTo: 7 });
    void next.close();
    expect(readJournal(file)?.map(({ type }) => type)).toEqual(['open', 'sequence']);
  });
});

describe('a journal on a full disk', () => {
  it('lets the session go on, tells it once, and is whole when there is room again', async () => {
    const file = path.join(testFolder(), 'a.jsonl');
    await symlink('/dev/full', file);
    const faults: unknown[] = [];
    const written = new Journal(new JournalFile(file, (fault) => faults.push(fault)));
    written.write({ type: 'open', id: 'sess_1', character: 'alice', model: 'alice' });
    written.write({ type: 'sequence', upTo: 7 });
    expect(faults).toMatchObject([{ code: 'ENOSPC' }]);
    await rm(file);
    written.write({ type: 'sequence', upTo: 9 });
    void written.close();
    expect(readJournal(file)).toMatchObject([{ type: 'open' }, { upTo: 7 }, { upTo: 9 }]);
  });

  it('is given up without a crash if its folder has been replaced by a file', async () => {
    const folder = path.join(testFolder(), 'sessions');
    await writeFile(folder, '');
    const faults: unknown[] = [];
    const written = new Journal(new JournalFile(path.join(folder, 'a.jsonl'), (fault) => faults.push(fault)));
    expect(faults).toHaveLength(1);
    written.remove();
    expect(faults).toMatchObject([{}, { code: 'ENOTDIR' }]);
  });

  it('is given up when too much waits, and that is told', async () => {
    const file = path.join(testFolder(), 'a.jsonl');
    await symlink('/dev/full', file);
    const faults: unknown[] = [];
    const written = new Journal(new JournalFile(file, (fault) => faults.push(fault)));
    for (let round = 0; round < 30; round += 1)
      written.write({ type: 'session', session: { id: 'sess_1', instructions: 'x'.repeat(200_000) } });
    expect(faults.map(String)).toEqual([
      expect.stringContaining('ENOSPC'),
      expect.stringContaining('the session is not recorded'),
    ]);
  });
});

describe('moods', () => {
  const angry = { ...calmFeelings, emotions: { ...calmFeelings.emotions, anger: 8 } };

  it('at the end of the last reply are in the journal', async () => {
    const { file, journal: written } = await journal();
    written.write({ type: 'open', id: 'sess_1', character: 'alice', model: 'alice' });
    const ended = { type: 'reply-ended', calls: [] } as const;
    written.note({ ...ended, replyId: 'r', end: { feelings: calmFeelings } as never });
    written.note({ ...ended, replyId: 's', end: { feelings: angry } as never });
    void written.close();
    expect(restore(readJournal(file) ?? [], 400)?.feelings).toEqual({ '': angry });
  });

  it('continue in a session that is restored, also without its history', async () => {
    const restored = { id: 'sess_1', session: undefined, items: [], beforeScene: new Set<string>() };
    const wire = recordConnection({ says: ['One two three.'] }, { restored: { ...restored, feelings: { '': angry } } });
    wire.send({ type: 'response.create' });
    await wire.clock.advance(8_000);
    expect(wire.last('response.done').response.x_dramatis.feelings.anger).toBe(8);
    wire.connection.close();
    await wire.connection.done;
  });
});

describe('shutdown', () => {
  it('leaves stored sessions to the next server when it shuts down', async () => {
    const flags = { store: true, dataDir: testFolder() };
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
