import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { openVoiceStore } from '../../../voices/library/store.ts';
import { makeDataDir } from '../../../server/config/data-dir.ts';
import { testFolder } from '../../fakes/test-folder.ts';

it('only their owner can read recordings of voices and the data about them', async () => {
  const parent = testFolder();
  const home = path.join(parent, 'made');
  makeDataDir(home);
  const store = openVoiceStore(home);
  await store.writeClip('martha', 'clips/one.wav', Buffer.from('RIFF'));
  using _lock = await store.lock('martha');
  const entries = ['.', ...(await readdir(home, { recursive: true }))];
  const modes = entries.map(async (entry) => ({ entry, mode: (await stat(path.join(home, entry))).mode & 0o077 }));
  expect((await Promise.all(modes)).filter(({ mode }) => mode !== 0)).toEqual([]);
  expect(entries.length).toBeGreaterThan(4);
});
