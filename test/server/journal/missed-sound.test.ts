import { describe, expect, it } from 'vitest';
import type { JournalLine } from '../../../server/journal/lines.ts';
import { restore } from '../../../server/journal/restore.ts';

const words = ['So ', 'it ', 'was ', 'done.'].map((text, at) => ({ text, startMs: at * 100, endMs: at * 100 + 100 }));
const text = 'So it was done.';
const spoken = { type: 'audio' as const, transcript: text, durationMs: 400, sampleRate: 24_000, words };
const item = { id: 'item_1', type: 'message' as const, role: 'assistant' as const, status: 'completed' as const };
const lines: JournalLine[] = [
  { type: 'open', version: 3, id: 'sess_1', character: 'alice', model: 'alice' },
  { type: 'started', replyId: 'resp_1', again: { speaks: true } },
  { type: 'item', item: { ...item, content: [{ ...spoken, transcript: '', durationMs: 0, words: [] }] }, after: null },
  { type: 'speaks', replyId: 'resp_1', itemId: 'item_1' },
  { type: 'phrase', replyId: 'resp_1', text, before: '', fromMs: 0 },
  { type: 'words', replyId: 'resp_1', text, words },
  { type: 'ended', replyId: 'resp_1', item: { ...item, content: [spoken] } },
];
const at = (receivedMs: number) => restore(structuredClone(lines), 400, { replyId: 'resp_1', receivedMs });

describe('a reply whose last sound has not arrived when its server dies', () => {
  it('says the rest of its last phrase, and asks no model for it', () => {
    const restored = at(240);
    expect(restored?.openReplies).toMatchObject([{ replyId: 'resp_1', item: { status: 'incomplete' } }]);
    expect(restored?.openReplies[0]?.item?.content).toMatchObject([{ transcript: 'So it was' }]);
    const rest = { text, before: '', saidMs: 240, isLast: true };
    expect(restored?.reply).toEqual({
      speaks: true,
      inConversation: true,
      goesOn: { itemIds: ['item_1'], heard: text, rest },
    });
  });

  it('has ended if all of it has arrived, or if the client does not say', () => {
    for (const restored of [at(400), restore(structuredClone(lines), 400)]) {
      expect(restored?.openReplies).toEqual([]);
      expect(restored?.reply).toBeUndefined();
    }
  });
});
