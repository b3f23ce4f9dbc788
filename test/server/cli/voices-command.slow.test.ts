import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { dramatis } from '../../rigs/command-rig.ts';
import { openVoicesRig, speak } from './voices-rig.ts';

const { folder, file, encoder, on, added } = await openVoicesRig();

/** Runs `dramatis voices` on a data folder. */
const voices = (dataDir: string, ...args: readonly string[]) => dramatis('voices', ...on(dataDir, ...args));

describe('dramatis voices', () => {
  beforeAll(() => added(path.join(folder, 'whole')));

  it('lists the other voices and names the record if one voice is damaged', async () => {
    const dataDir = path.join(folder, 'whole');
    const record = path.join(dataDir, 'voices/broken/voice.json');
    await mkdir(path.dirname(record));
    await writeFile(record, '{');
    const saying = (text: string) => ({
      status: 1,
      stdout: expect.stringContaining(text),
      stderr: expect.stringContaining(record),
    });
    expect(await voices(dataDir, 'list')).toMatchObject(saying('sailor'));
    expect(await voices(dataDir, 'list', '--json')).toMatchObject(saying('"sailor"'));
    expect(await voices(dataDir, 'show', 'broken')).toMatchObject(saying(''));
    await rm(path.dirname(record), { recursive: true });
  });

  it('calls a single usable clip the only one, not the one most like the others', async () => {
    const dataDir = path.join(folder, 'whole');
    const placeOf = (id: string) => path.join(dataDir, 'voices', id, 'voice.json');
    const record = JSON.parse(await readFile(placeOf('sailor'), 'utf8')) as { reference: { choice: object } };
    record.reference.choice = { by: 'embedding', score: 1, clips: 1 };
    await mkdir(path.dirname(placeOf('lonely')));
    await writeFile(placeOf('lonely'), JSON.stringify({ ...record, id: 'lonely' }));
    const { stdout } = await voices(dataDir, 'show', 'lonely');
    expect(stdout).toMatch(/^chosen +the only usable clip$/m);
    await rm(path.dirname(placeOf('lonely')), { recursive: true });
  });

  it('lists, shows, compares and removes voices as text and as JSON', { timeout: 60_000 }, async () => {
    const dataDir = path.join(folder, 'whole');
    const say = async (...args: readonly string[]) => (await voices(dataDir, ...args)).stdout;
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
    'adds a folder of recordings, reports its speakers and takes the one that is chosen',
    { timeout: 60_000 },
    async () => {
      const recordings = path.join(folder, 'An Interview');
      await mkdir(recordings);
      await speak(path.join(recordings, 'first.wav'), ['rms', 'slt', 'rms']);
      await speak(path.join(recordings, 'second.wav'), ['slt', 'rms']);
      await writeFile(path.join(recordings, 'notes.md'), 'Tape 3');
      const dataDir = path.join(folder, 'interview');
      const add = (...more: readonly string[]) =>
        voices(dataDir, 'add', recordings, '--consent', 'x', '--speaker-encoder', encoder, ...more);
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
      const show = (...more: string[]) => voices(dataDir, 'show', 'an-interview', '--clips', ...more);
      expect((await show()).stdout).toMatch(/^→ +(first|second)\.wav +[\d.]+ +[\d.]+ +\d+ dB +2 /m);
      const { clips } = JSON.parse((await show('--json')).stdout) as {
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
      'this folder contains no recording',
    ],
    [['add', file], 1, '--consent'],
    [['add'], 2, 'recordings'],
    [['add', file, '--min-quality', '7'], 2, '1 to 5'],
    [['add', path.join(folder, 'none.wav'), '--consent', 'x'], 1, 'does not exist'],
    [['show', 'nobody'], 1, 'no voice "nobody"'],
    [['show'], 2, 'Name a voice'],
    [['remove', '../../..'], 1, 'not a valid voice name'],
    [['compare', 'sailor'], 2, 'two voices'],
    [['dance'], 2, 'add | list'],
    [['add', file, '--consent', 'x', '--dnsmos', path.join(folder, 'none.onnx')], 1, 'sig_bak_ovr.onnx'],
    [['add', file, '--consent', 'x', '--speaker-encoder', path.join(folder, 'none.onnx')], 1, 'CAM++'],
  ])('explains what is wrong with the arguments %j', async (args, status, detail) => {
    const failed = await voices(path.join(folder, 'empty'), ...args);
    expect(failed).toMatchObject({ status, stderr: expect.stringContaining(detail) });
  });
});
