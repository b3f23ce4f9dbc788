import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { progressLine } from '../../server/cli/progress-bar.ts';
import { openVoicesRig } from './voices-rig.ts';

const { folder, file, argumentsFor, added } = await openVoicesRig();
const run = promisify(execFile);

describe('the command `voices`', () => {
  beforeAll(() => added(path.join(folder, 'whole')));

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
