import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openVoiceStore } from '../../../voices/library/store.ts';
import { makeDataDir } from '../../../server/config/data-dir.ts';

it('recordings of voices and what is told about them are readable by their owner alone', async () => {
  const parent = await mkdtemp(path.join(tmpdir(), 'dramatis-private-'));
  onTestFinished(() => rm(parent, { recursive: true }));
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
