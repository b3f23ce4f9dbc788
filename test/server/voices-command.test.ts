import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { concatSamples } from '../../voices/audio.ts';
import { openFlite } from '../../voices/synthesizers/flite.ts';
import { writeWav } from '../../voices/wav.ts';
import { progressLine } from '../../server/cli/progress-bar.ts';

const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-voices-command-'));
afterAll(() => rm(folder, { recursive: true }));
const run = promisify(execFile);

/** Four sentences of one of our own voices, a second between them. */
async function speech(): Promise<string> {
  const flite = openFlite();
  const { signal } = new AbortController();
  async function* phrase(text: string) {
    yield { text };
  }
  const parts: Float32Array[] = [];
  for (const text of [
    'The weather was fine on the morning that we left the harbour behind us.',
    'Nobody had told the captain that there were only eleven barrels of water.',
    'We saw the lighthouse once more, and then nothing but the open sea.',
    'On the third day the wind turned, and all of us went up on deck.',
  ]) {
    const chunks = await Array.fromAsync(flite.speak(phrase(text), { signal, voice: { kind: 'preset', id: 'rms' } }));
    parts.push(...chunks.map(({ frame }) => frame.samples), new Float32Array(flite.sampleRate));
  }
  await flite.close();
  const file = path.join(folder, 'voyage.wav');
  await writeWav(file, concatSamples(parts), flite.sampleRate);
  return file;
}

const file = await speech();

function argumentsFor(dataDir: string, ...args: readonly string[]): string[] {
  return ['server/main.ts', 'voices', ...args, '--data-dir', dataDir, '--workers', '1'];
}

function adding(dataDir: string): string[] {
  return argumentsFor(dataDir, 'add', file, '--id', 'sailor', '--consent', 'made for this test', '--json');
}

async function added(dataDir: string): Promise<Record<string, unknown>> {
  const { stdout } = await run(process.execPath, adding(dataDir));
  return JSON.parse(stdout) as Record<string, unknown>;
}

/** What is on disk, but for the moment in which consent was recorded. */
async function kept(dataDir: string): Promise<Record<string, string>> {
  const files = (await readdir(dataDir, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  const pairs = files.map(async ({ parentPath, name }) => {
    const place = path.join(parentPath, name);
    const text = await readFile(place, name.endsWith('.json') ? 'utf8' : 'base64');
    return [path.relative(dataDir, place), text.replace(/"recordedAt": "[^"]*"/, '')];
  });
  return Object.fromEntries(await Promise.all(pairs)) as Record<string, string>;
}

/** Runs until a line of progress matches, then kills it, as a power cut would. */
async function killedAt(dataDir: string, pattern: RegExp): Promise<void> {
  const child = spawn(process.execPath, adding(dataDir), { stdio: ['ignore', 'ignore', 'pipe'] });
  const exit = once(child, 'exit');
  for await (const line of createInterface({ input: child.stderr })) {
    if (pattern.test(line)) child.kill('SIGKILL');
  }
  expect(await exit).toEqual([null, 'SIGKILL']);
}

describe('the command `voices`', () => {
  it('add: a kill at any stage loses nothing, and a second run does nothing twice', { timeout: 120_000 }, async () => {
    const [whole, broken] = ['whole', 'broken'].map((name) => path.join(folder, name)) as [string, string];
    expect(await added(whole)).toMatchObject({ id: 'sailor', clips: 4, examined: 4 });
    await killedAt(broken, /voyage\.wav: 4 clips/);
    await killedAt(broken, / 1\/\d clips/);
    const rest = (await added(broken))['examined'] as number;
    expect(rest).toBeGreaterThan(0);
    expect(rest).toBeLessThan(4);
    const files = await kept(whole);
    expect(Object.keys(files)).toHaveLength(4 + 1 + 1);
    // A write that was cut off may leave its draft.
    const found = Object.entries(await kept(broken)).filter(([name]) => !name.endsWith('.tmp'));
    expect(Object.fromEntries(found)).toEqual(files);
    expect(await added(broken)).toMatchObject({ clips: 4, examined: 0 });
  });

  it('lists, shows, compares and removes, as text and as JSON', { timeout: 60_000 }, async () => {
    const dataDir = path.join(folder, 'whole');
    const say = async (...args: readonly string[]) =>
      (await run(process.execPath, argumentsFor(dataDir, ...args))).stdout;
    expect(await say('list')).toContain('sailor');
    expect(JSON.parse(await say('list', '--json'))).toMatchObject([
      { id: 'sailor', reference: { choice: { by: 'snr' } } },
    ]);
    expect(await say('show', 'sailor')).toContain('made for this test');
    const shown: unknown = JSON.parse(await say('show', 'sailor', '--json'));
    expect(shown).toMatchObject({ consent: { note: 'made for this test' }, language: 'en' });
    const compared: unknown = JSON.parse(await say('compare', 'sailor', 'sailor', '--json'));
    expect(compared).toEqual({ voices: ['sailor', 'sailor'], similarity: null, pitch_apart_semitones: 0 });
    expect(await say('remove', 'sailor')).toContain('Removed');
    expect(JSON.parse(await say('list', '--json'))).toEqual([]);
  });

  it.each([
    [['add', file], 1, '--consent'],
    [['add'], 2, 'recordings'],
    [['add', file, '--min-quality', '7'], 2, '1 to 5'],
    [['add', path.join(folder, 'none.wav'), '--consent', 'x'], 1, 'no such file'],
    [['show', 'nobody'], 1, 'no voice "nobody"'],
    [['show'], 2, 'Name a voice'],
    [['remove', '../..'], 1, 'cannot be a voice'],
    [['compare', 'sailor'], 2, 'two voices'],
    [['dance'], 2, 'add | list'],
    [['add', file, '--consent', 'x', '--dnsmos', path.join(folder, 'none.onnx')], 1, 'sig_bak_ovr.onnx'],
    [['add', file, '--consent', 'x', '--speaker-encoder', path.join(folder, 'none.onnx')], 1, 'CAM++'],
  ])('says what is wrong with %j', async (args, code, detail) => {
    const failed = run(process.execPath, argumentsFor(path.join(folder, 'empty'), ...args));
    await expect(failed).rejects.toMatchObject({ code, stderr: expect.stringContaining(detail) });
  });

  it('says which file is damaged', async () => {
    const dataDir = path.join(folder, 'damaged');
    await added(dataDir);
    const record = path.join(dataDir, 'voices/sailor/voice.json');
    await writeFile(record, '{');
    const failed = run(process.execPath, argumentsFor(dataDir, 'show', 'sailor'));
    await expect(failed).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining(record) });
  });
});

describe('the progress bar', () => {
  it('tells what is done, how fast, and how long the rest takes', () => {
    const line = (done: number, elapsedMs: number) =>
      progressLine({ done, of: 60, label: `${done}/60 clips`, unit: 's of speech', elapsedMs });
    expect(line(15, 5_000)).toBe(
      `[${'█'.repeat(6)}${'░'.repeat(18)}] 15/60 clips · 3.0 s of speech a second · 0:15 left`,
    );
    expect(line(1, 2_000)).toContain('1:58 left');
    expect(line(0, 0)).toContain('? left');
    expect(line(60, 10_000)).toContain('0:00 left');
  });
});
