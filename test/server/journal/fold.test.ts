import * as fc from '../../fakes/property.ts';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { calmFeelings } from '../../../agents/feelings.ts';
import { fold } from '../../../server/journal/fold.ts';
import { JournalFile, readJournal } from '../../../server/journal/journal-file.ts';
import { Journal } from '../../../server/journal/journal.ts';
import type { JournalLine } from '../../../server/journal/lines.ts';
import { createdIn } from '../../../server/journal/unfinished.ts';
import { restore } from '../../../server/journal/restore.ts';
import { testFolder } from '../../fakes/test-folder.ts';

const ids = fc.constantFrom('a', 'b', 'c', 'd');
const replyIds = fc.constantFrom('r', 's');
const open: JournalLine = { type: 'open', version: 2, id: 'sess_1', character: 'scene:garden', model: 'scene:garden' };
const text = fc.constantFrom('One.', 'Two words.');
const words = fc
  .array(fc.nat(9), { maxLength: 3 })
  .map((starts) => starts.map((start) => ({ text: 'so ', startMs: start * 100, endMs: start * 100 + 90 })));
const content = fc.oneof(
  text.map((value) => ({ type: 'text' as const, text: value })),
  fc.tuple(text, words).map(([transcript, timed]) => ({
    type: 'audio' as const,
    transcript,
    durationMs: 1_000,
    sampleRate: 24_000,
    words: timed,
  })),
);
const message = fc.tuple(ids, fc.array(content, { minLength: 1, maxLength: 2 })).map(([id, parts]) => ({
  id,
  type: 'message' as const,
  role: 'assistant' as const,
  status: 'in_progress' as const,
  content: parts,
}));
const call = ids.map((id) => ({
  id,
  type: 'call' as const,
  status: 'completed' as const,
  callId: 'call_1',
  name: 'look_up',
  arguments: '{}',
}));

/** Lines in any order, also in orders that no server writes. */
const anyLine: fc.Arbitrary<JournalLine> = fc.oneof(
  fc.constantFrom('garden', 'attic', null).map((id): JournalLine => ({
    type: 'session',
    session: { id: 'sess_1', x_dramatis: { scene: id === null ? null : { id } } },
  })),
  fc.nat(5_000).map((upTo): JournalLine => ({ type: 'sequence', upTo })),
  fc.tuple(ids, text, fc.boolean()).map(([id, value, isGone]): JournalLine => ({
    type: 'world',
    change: isGone
      ? { unset: [id], gone: [id], attention: null }
      : { set: { [id]: value }, objects: [{ id, name: value }], attention: id, events: [{ text: value }] },
  })),
  fc
    .tuple(fc.oneof(message, call), fc.option(ids))
    .map(([item, after]): JournalLine => ({ type: 'item', item, after })),
  fc.tuple(ids, text).map(([itemId, value]): JournalLine => ({ type: 'transcript', itemId, text: value })),
  replyIds.map((replyId): JournalLine => ({ type: 'started', replyId, again: { speaks: true } })),
  fc.nat(40).map((sequence): JournalLine => ({ type: 'taken', sequence })),
  fc.nat(40).map((upTo): JournalLine => ({ type: 'kept', upTo })),
  fc.tuple(replyIds, ids).map(([replyId, itemId]): JournalLine => ({ type: 'speaks', replyId, itemId })),
  fc
    .tuple(replyIds, text, words)
    .map(([replyId, value, timed]): JournalLine => ({ type: 'words', replyId, text: value, words: timed })),
  fc.tuple(replyIds, fc.nat(2_000)).map(([replyId, heardMs]): JournalLine => ({ type: 'heard', replyId, heardMs })),
  fc.tuple(replyIds, text, fc.nat(1_500), fc.boolean()).map(([replyId, value, fromMs, isKept]): JournalLine => ({
    type: 'phrase',
    replyId,
    text: value,
    before: '',
    fromMs,
    ...(isKept ? { needsSound: true } : {}),
  })),
  fc.tuple(text, fc.nat(9)).map(([value, delaySamples]): JournalLine => ({
    type: 'sound',
    text: value,
    before: '',
    packets: [],
    delaySamples,
    pieces: [],
  })),
  fc.tuple(fc.nat(40), fc.nat(40), fc.option(replyIds)).map(([sequence, acknowledged, id]): JournalLine => ({
    type: 'told',
    sequence,
    event: id === null ? {} : { type: 'response.created', response: { id } },
    acknowledged,
  })),
  fc.tuple(replyIds, message).map(([replyId, item]): JournalLine => ({ type: 'ended', replyId, item })),
  fc
    .tuple(ids, fc.nat(1), fc.nat(1_500))
    .map(([itemId, contentIndex, heardMs]): JournalLine => ({ type: 'truncated', itemId, contentIndex, heardMs })),
  ids.map((itemId): JournalLine => ({ type: 'deleted', itemId })),
  fc.nat(10).map((intimacy): JournalLine => ({ type: 'felt', feelings: { '': { ...calmFeelings, intimacy } } })),
);

function isOfKnownReply(line: JournalLine, speaking: ReadonlyMap<string, unknown>): boolean {
  return line.type !== 'told' || !('response' in line.event) || speaking.has(createdIn(line.event) ?? '');
}

/**
 * Leaves out what a session never writes: an item twice, an event of a reply before that, an end with an item that the reply did not speak, and a
 * transcript of what the character said.
 */
function asWritten(lines: readonly JournalLine[]): JournalLine[] {
  const standing = new Set<string>();
  const speaking = new Map<string, string | undefined>();
  const users = new Set<string>();
  const characters = new Set<string>();
  return lines.filter((line) => {
    if (!isOfKnownReply(line, speaking)) return false;
    if (line.type === 'item') {
      if (standing.has(line.item.id)) return false;
      standing.add(line.item.id);
    } else if (line.type === 'deleted') {
      standing.delete(line.itemId);
    } else if (line.type === 'started') {
      if (speaking.has(line.replyId)) return false;
      speaking.set(line.replyId, undefined);
    } else if (line.type === 'speaks') {
      const isNew = speaking.has(line.replyId) && speaking.get(line.replyId) === undefined;
      if (!isNew || !standing.has(line.itemId) || users.has(line.itemId) || characters.has(line.itemId)) return false;
      speaking.set(line.replyId, line.itemId);
      characters.add(line.itemId);
    } else if (line.type === 'ended') {
      if (line.item === undefined || speaking.get(line.replyId) !== line.item.id) return false;
      speaking.delete(line.replyId);
    } else if (line.type === 'transcript') {
      if (characters.has(line.itemId)) return false;
      users.add(line.itemId);
    } else if (line.type === 'truncated') {
      if (users.has(line.itemId)) return false;
      characters.add(line.itemId);
    }
    return true;
  });
}

describe('fold', () => {
  it('restores the same session as the lines that it was made from', () => {
    fc.assert(
      fc.property(fc.array(anyLine, { maxLength: 60 }), (any) => {
        const lines = [open, ...asWritten(any)];
        // Both work on lines of their own: `restore` fills the items that the lines hold.
        const folded = fold(structuredClone(lines));
        for (const received of [undefined, { replyId: 'r', receivedMs: 700 }])
          expect(restore(structuredClone(folded), 400, received)).toEqual(
            restore(structuredClone(lines), 400, received),
          );
        expect(fold(structuredClone(folded))).toEqual(folded);
      }),
      { seed: 15, numRuns: 3_000 },
    );
  });
});

describe('Journal', () => {
  it('stays short however often a client changes the same settings', async () => {
    const folder = testFolder();
    const file = path.join(folder, 'a.jsonl');
    const journal = new Journal(new JournalFile(file));
    journal.write(open);
    for (let round = 0; round < 300; round += 1)
      journal.write({
        type: 'session',
        session: { id: 'sess_1', x_dramatis: {}, instructions: `${round} ${'x'.repeat(200_000)}` },
      });
    expect((await stat(file)).size).toBeLessThan(5_000_000);
    void journal.close();
    const restored = restore(readJournal(file) ?? [], 400);
    expect(restored?.session?.instructions).toMatch(/^299 /);
  });
});
