import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { openVoicesRig, speak } from '../../rigs/voices-rig.ts';

const { folder, file, encoder, argumentsFor, added } = await openVoicesRig();
const run = promisify(execFile);

describe('the command `voices`', () => {
  beforeAll(() => added(path.join(folder, 'whole')));

  it('hid every voice behind one that is damaged', async () => {
    const dataDir = path.join(folder, 'whole');
    const record = path.join(dataDir, 'voices/broken/voice.json');
    await mkdir(path.dirname(record));
    await writeFile(record, '{');
    const listed = (...more: string[]) => run(process.execPath, argumentsFor(dataDir, 'list', ...more));
    const saying = (stdout: unknown) => ({ code: 1, stdout, stderr: expect.stringContaining(record) });
    await expect(listed()).rejects.toMatchObject(saying(expect.stringContaining('sailor')));
    await expect(listed('--json')).rejects.toMatchObject(saying(expect.stringContaining('"sailor"')));
    await rm(path.dirname(record), { recursive: true });
  });

  it('called the only clip most like the others', async () => {
    const dataDir = path.join(folder, 'whole');
    const placeOf = (id: string) => path.join(dataDir, 'voices', id, 'voice.json');
    const record = JSON.parse(await readFile(placeOf('sailor'), 'utf8')) as { reference: { choice: object } };
    record.reference.choice = { by: 'embedding', score: 1, clips: 1 };
    await mkdir(path.dirname(placeOf('lonely')));
    await writeFile(placeOf('lonely'), JSON.stringify({ ...record, id: 'lonely' }));
    const { stdout } = await run(process.execPath, argumentsFor(dataDir, 'show', 'lonely'));
    expect(stdout).toMatch(/^chosen +the only clip that is fit$/m);
    await rm(path.dirname(placeOf('lonely')), { recursive: true });
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

  it(
    'adds a folder of recordings, tells who speaks in them, and takes whom it is told to',
    { timeout: 60_000 },
    async () => {
      const recordings = path.join(folder, 'An Interview');
      await mkdir(recordings);
      await speak(path.join(recordings, 'first.wav'), ['rms', 'slt', 'rms']);
      await speak(path.join(recordings, 'second.wav'), ['slt', 'rms']);
      await writeFile(path.join(recordings, 'notes.md'), 'Tape 3');
      const dataDir = path.join(folder, 'interview');
      const add = (...more: readonly string[]) =>
        run(
          process.execPath,
          argumentsFor(dataDir, 'add', recordings, '--consent', 'x', '--speaker-encoder', encoder, ...more),
        );
      const { stdout, stderr } = await add();
      expect(stderr).toContain('first.wav: 3 clips\nsecond.wav: 2 clips\n');
      expect(stdout).toContain('2 speakers found');
      expect(stdout).toMatch(/^→ +1 +0:1\d +3 .*\n +2 +0:\d\d +2 /m);
      const other = JSON.parse((await add('--speaker', '2', '--json')).stdout) as Record<string, unknown>;
      expect(other).toMatchObject({
        id: 'an-interview',
        examined: 0,
        mixed: 0,
        reference: { choice: { speaker: { number: 2, of: 2 } } },
      });
      const show = argumentsFor(dataDir, 'show', 'an-interview', '--clips');
      expect((await run(process.execPath, show)).stdout).toMatch(
        /^→ +(first|second)\.wav +[\d.]+ +[\d.]+ +\d+ dB +2 /m,
      );
      const { clips } = JSON.parse((await run(process.execPath, [...show, '--json'])).stdout) as {
        clips: { speaker: number }[];
      };
      expect(clips.map(({ speaker }) => speaker)).toEqual([1, 2, 1, 2, 1]);
    },
  );

  it.each([
    [['add', folder, '--consent', 'x', '--speaker', 'two'], 2, '"all"'],
    [['add', file, '--consent', 'x', '--speaker', '2'], 1, 'DRAMATIS_SPEAKER_ENCODER'],
    [
      ['add', path.join(import.meta.dirname, '../../../characters'), '--consent', 'x'],
      1,
      'no recording in this folder',
    ],
    [['add', file], 1, '--consent'],
    [['add'], 2, 'recordings'],
    [['add', file, '--min-quality', '7'], 2, '1 to 5'],
    [['add', path.join(folder, 'none.wav'), '--consent', 'x'], 1, 'no such file'],
    [['show', 'nobody'], 1, 'no voice "nobody"'],
    [['show'], 2, 'Name a voice'],
    [['remove', '../../..'], 1, 'cannot be a voice'],
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
