import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { journalFile, lineIn, readJournal } from '../../../server/journal/journal-file.ts';
import { restore } from '../../../server/journal/restore.ts';
import { hashOf } from '../../../server/connections/resumable-sessions.ts';
import { serve } from '../../rigs/serve-rig.ts';

const folders: string[] = [];
afterEach(async () => {
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true })));
});

/**
 * Journals that earlier versions wrote (5bef6a41 and 39cbdc45): a sentence in text and one in speech with their answers,
 * then a third sentence, whose reply was being said when the node was killed.
 */
const journals = [
  { version: 2, said: 'So you told me three after 2 others and that ' },
  { version: 3, said: 'So you told me ' },
];

function fileOf(version: number): string {
  return path.join(import.meta.dirname, `version-${version}.jsonl`);
}

describe.for(journals)('a journal of version $version', ({ version, said }) => {
  it('restores the conversation word for word', () => {
    const items = restore(readJournal(fileOf(version)) ?? [], 0)?.items ?? [];
    const texts = items.map((item) => {
      const part = item.type === 'message' ? item.content[0] : undefined;
      return part?.type === 'audio' ? part.transcript : part?.type === 'text' ? part.text : undefined;
    });
    expect(texts.slice(0, 5)).toEqual([
      'one',
      'So you told me one after 0 others and that is it.',
      'utterance 6 of 600 ms',
      'So you told me utterance 6 of 600 ms after 1 others and that is it.',
      'three',
    ]);
    expect(texts[5]).toMatch(new RegExp(`^${said}`));
  });

  it('is resumed: the client learns the outcome of the reply, and the conversation continues', async () => {
    const dataDir = await mkdtemp(path.join(tmpdir(), 'dramatis-version-'));
    folders.push(dataDir);
    const token = `rt_${'x'.repeat(32)}`;
    const file = journalFile(dataDir, hashOf(token));
    await mkdir(path.dirname(file), { recursive: true });
    await copyFile(fileOf(version), file);
    const server = await serve({ flags: { store: true, dataDir } });
    const client = server.call(`?resume=${token}&after=100&x=resume`);
    await client.until('x_dramatis.resumed');
    const cut = await client.until('response.done');
    expect(cut['response']).toMatchObject({ status_details: { reason: 'server_restarted' } });
    client.send({
      type: 'conversation.item.create',
      x_seq: 60,
      item: { id: 'q', type: 'message', role: 'user', content: [] },
    });
    const added = await client.until('conversation.item.done');
    expect(added['previous_item_id']).toMatch(/^item_/);
  });
});

describe('a journal of a newer version', () => {
  const newer = [
    { type: 'open', version: 99, id: 'sess_1', character: 'alice', model: 'alice' },
    { type: 'something-new', upTo: 1 },
  ];

  it.for(newer)('is distinguished from a damaged one by its version and its lines (%o)', (line) => {
    expect(() => lineIn(JSON.stringify(line), 'here')).toThrow(expect.objectContaining({ isNewer: true }));
  });

  it('is not seen in a line that is damaged', () => {
    for (const row of ['{"type":"sequ', '{"type":"sequence"}', '{}', '7'])
      expect(() => lineIn(row, 'here')).toThrow(expect.objectContaining({ isNewer: false }));
  });
});
