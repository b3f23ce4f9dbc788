import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { watch } from 'node:fs';
import { mkdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { Recording } from '../../../../eval/construction/speech/pipeline.ts';
import { readWav } from '../../../../voices/dsp/wav.ts';
import { dramatis } from '../../../rigs/command-rig.ts';
import { openScratch } from '../../scratch.ts';
import { filesOf, jsonLines } from '../rig/build-rig.ts';
import { spokenDialogues, writeDialogues } from './spoken-set.ts';

const main = path.resolve(import.meta.dirname, '../../../../server/main.ts');

/** `DRAMATIS_TEST_KILLS=20` for more. */
const kills = Number(process.env['DRAMATIS_TEST_KILLS'] ?? 1);

/** Speaks in its own process that is killed when its journal has so many bytes. */
async function speakUntil(killAtBytes: number, args: readonly string[], out: string): Promise<void> {
  const journal = path.join(out, 'journal.jsonl');
  await mkdir(out, { recursive: true });
  const child = spawn(process.execPath, [main, 'data', 'speak', ...args, '--out', out], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const exited = once(child, 'exit');
  const watcher = watch(out, () => {
    stat(journal).then(
      ({ size }) => size >= killAtBytes && child.kill('SIGKILL'),
      () => undefined,
    );
  });
  await exited;
  watcher.close();
}

it('the embedded voices speak dialogues that the embedded recognizer understands, though they are killed', async () => {
  await using scratch = await openScratch();
  const input = await writeDialogues(scratch.path, spokenDialogues);
  const [out, killed, training] = ['out', 'killed', 'training'].map((name) => path.join(scratch.path, name)) as [
    string,
    string,
    string,
  ];
  const args = [input, '--data-dir', path.join(scratch.path, 'home'), '--concurrency', '1'];
  const spoken = await dramatis('data', 'speak', ...args, '--out', out);
  expect(spoken).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/role en +2 recordings.*WER 0\.\d/) as string,
  });
  const rows = jsonLines<Recording>(await readFile(path.join(out, 'recordings.jsonl'), 'utf8'));
  expect(rows.map(({ faults }) => faults)).toEqual([[], [], [], []]);
  const errors = rows.reduce((sum, row) => sum + (row.errors?.edits ?? NaN), 0);
  const words = rows.reduce((sum, row) => sum + (row.errors?.units ?? NaN), 0);
  expect(errors / words).toBeLessThan(0.3);

  // Trainers find the recordings from the folder of the export.
  expect((await dramatis('data', 'export', out, '--format', 'ms-swift', '--out', training)).status).toBe(0);
  const [first] = jsonLines<{ messages: { content: string }[]; audios: string[] }>(
    await readFile(path.join(training, 'train.jsonl'), 'utf8'),
  );
  expect(first?.messages.filter(({ content }) => content === '<audio>')).toHaveLength(1);
  const { samples } = await readWav(path.resolve(training, first?.audios[0] ?? ''));
  expect(samples.length).toBeGreaterThan(24_000);

  const bytes = (await stat(path.join(out, 'journal.jsonl'))).size;
  for (let kill = 1; kill <= kills; kill += 1) await speakUntil((bytes * kill) / (kills + 1), args, killed);
  expect((await dramatis('data', 'speak', ...args, '--out', killed)).status).toBe(0);
  expect(await filesOf(killed)).toEqual(await filesOf(out));
  const entries = jsonLines<{ record?: string; part: string; attempt: string }>(
    await readFile(path.join(killed, 'journal.jsonl'), 'utf8'),
  ).filter(({ record }) => record !== undefined);
  const places = new Set(entries.map(({ record, part, attempt }) => `${record} ${part} ${attempt}`));
  expect(entries).toHaveLength(places.size);
}, 300_000);
