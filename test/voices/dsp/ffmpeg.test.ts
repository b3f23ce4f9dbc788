import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import bundled from '@ffmpeg-installer/ffmpeg';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { chooseFfmpeg } from '../../../voices/dsp/ffmpeg.ts';
import { writeWav } from '../../../voices/dsp/wav.ts';
import { sharedAvailable, sharedPath } from '../../shared.ts';
import { testFolder } from '../../fakes/test-folder.ts';

const programPath = process.env['PATH'] ?? '';
const system = await chooseFfmpeg(programPath);
const hasSystem = !system.isBundled;
if (!hasSystem) console.warn('Skipped: the ffmpeg of this system. There is none of 5.1 or later on PATH.');
const files = ['t.flac', 't.mp3', 't.m4a', 't.webm', 't.ogg', 't.opus', 't.aiff', 't.au', 't.ac3', 't.mka', 't.wma'];
const moreFiles = ['24-bit.wav', 'fragmented.mp4', 'with-picture.mkv', 't.aac', 't.avi', 't.wv'];
let folder: string;
const at = (name: string): string => path.join(folder, name);

beforeAll(async () => {
  folder = testFolder();
  const tone = (_: unknown, index: number): number => 0.5 * Math.sin((2 * Math.PI * 440 * index) / 24_000);
  await writeWav(at('t.wav'), Float32Array.from({ length: 48_000 }, tone), 24_000);
  const picture = ['-f', 'lavfi', '-i', 'testsrc=duration=2:size=64x64'];
  const special: Readonly<Record<string, readonly string[]>> = {
    '24-bit.wav': ['-c:a', 'pcm_s24le'],
    'fragmented.mp4': ['-movflags', 'frag_keyframe+empty_moov'],
    'with-picture.mkv': ['-map', '1:v', '-map', '0:a'],
  };
  for (const name of [...files, ...moreFiles]) {
    const more = name.startsWith('with-picture') ? picture : [];
    const words = ['-nostdin', '-v', 'error', '-i', at('t.wav'), ...more, ...(special[name] ?? []), at(name)];
    await promisify(execFile)(bundled.path, words);
  }
}, 60_000);
afterEach(() => void vi.unstubAllEnvs());

/** The reader of a process that has this PATH. */
async function readerWith(searched: string) {
  vi.stubEnv('PATH', searched);
  vi.resetModules();
  const { readAudioFile } = await import('../../../voices/dsp/audio-file.ts');
  return async (file: string, timeoutMs = 30_000): Promise<Float32Array> => {
    const options = { sampleRate: 16_000, signal: new AbortController().signal, timeoutMs };
    return (await readAudioFile(file, options)).samples;
  };
}

/** Makes a program of this name in its own folder, and returns the folder. */
async function makeProgram(name: string, script: string): Promise<string> {
  const place = at(`bin-${Math.random().toString(36).slice(2)}`);
  await mkdir(place);
  await writeFile(path.join(place, name), `#!/bin/sh\n${script}\n`);
  await chmod(path.join(place, name), 0o755);
  return place;
}

const modern = (then: string): string =>
  `case "$*" in *-version*) echo "ffmpeg version 7.1 of a test"; echo "libavutil      59. 39.100 / 59. 39.100";;
*-encoders*) echo " A..... libmp3lame x"; echo " A..... libopus x";;
*) ${then};;
esac`;

const which = [
  ['the one of the npm package', '/nonexistent'] as const,
  ['the one of this system', programPath] as const,
];

describe('choice of ffmpeg', () => {
  it('an ffmpeg of 2018 reads uploads only where there is no later one', async () => {
    const place = await makeProgram('ffmpeg', modern('exit 1'));
    expect(await chooseFfmpeg(place)).toMatchObject({
      path: path.join(place, 'ffmpeg'),
      version: '7.1',
      isBundled: false,
    });
    expect(await chooseFfmpeg(undefined)).toMatchObject({ path: bundled.path, isBundled: true });
  });

  it.each([
    ['of version 5.0', 'echo "ffmpeg version 5.0.1"; echo "libavutil      57. 17.100 / 57. 17.100"'],
    ['that cannot write MP3', 'echo "ffmpeg version 7.1"; echo "libavutil      59. 39.100 / 59. 39.100"'],
    ['that does not start', 'exit 1'],
  ])('a program %s is not taken for ffmpeg', async (_what, script) => {
    const place = await makeProgram('ffmpeg', script);
    expect(await chooseFfmpeg(`relative:${place}::.`)).toMatchObject({ path: bundled.path, isBundled: true });
  });

  it('ffmpeg runs without prlimit where the machine forbids its limits', async () => {
    const place = await makeProgram('prlimit', 'exit 1');
    expect((await chooseFfmpeg(place)).prlimit).toBeUndefined();
  });
});

describe('confinement of ffmpeg', () => {
  it('an upload is decoded without network, files, terminal, pictures and threads, and with limits', async () => {
    const place = await makeProgram('ffmpeg', modern(`echo "$*" > ${at('words')}; printf '\\001\\000'`));
    await (
      await readerWith(place)
    )(at('t.flac'));
    const words = await readFile(at('words'), 'utf8');
    for (const word of ['-nostdin', '-threads 1', '-protocol_whitelist pipe', '-format_whitelist wav,', '-vn'])
      expect(words).toContain(word);
    for (const word of ['-codec_whitelist aac,', '-probesize ', '-analyzeduration ', '-max_streams ', '-i pipe:0'])
      expect(words).toContain(word);
    expect(words).not.toContain('file');
    expect(words).not.toContain(folder);
    expect(words).not.toMatch(/h264|vp8|mjpeg|concat|hls|dash|image2|lavfi/);
  });

  it('an upload that makes ffmpeg hang ends at its time limit', async () => {
    const place = await makeProgram('ffmpeg', modern('exec /bin/sleep 1000'));
    const read = await readerWith(place);
    await expect(read(at('t.flac'), 200)).rejects.toMatchObject({ code: 'audio_file_timeout' });
  });

  it.skipIf(system.prlimit === undefined)('an upload that makes ffmpeg take gigabytes is stopped', async () => {
    const place = await makeProgram('ffmpeg', modern(`ulimit -v > ${at('memory')}; ulimit -t > ${at('cpu')}; exit 1`));
    const read = await readerWith(`${place}:${programPath}`);
    await expect(read(at('t.flac'), 30_000)).rejects.toMatchObject({ code: 'audio_file_unreadable' });
    expect(Number(await readFile(at('memory'), 'utf8'))).toBe(2 ** 20);
    expect(Number(await readFile(at('cpu'), 'utf8'))).toBe(30);
  });
});

describe.each(which)('%s', (name, searched) => {
  const skipped = name.endsWith('system') && !hasSystem;

  it.skipIf(skipped)('every format that was read is still read under the whitelists and limits', async () => {
    const read = await readerWith(searched);
    for (const file of [...files, ...moreFiles]) {
      const samples = await read(at(file)).catch((fault: unknown) => String(fault));
      expect([file, typeof samples === 'string' ? samples : Math.abs(samples.length / 16_000 - 2) < 0.1]).toEqual([
        file,
        true,
      ]);
    }
  });

  it.skipIf(skipped)('a playlist, a picture and a script of ffmpeg are not opened', async () => {
    const read = await readerWith(searched);
    await writeFile(at('list.ffconcat'), `ffconcat version 1.0\nfile '${at('t.flac')}'\n`);
    await writeFile(at('list.m3u8'), `#EXTM3U\n#EXTINF:2,\nfile://${at('t.mp3')}\n#EXT-X-ENDLIST\n`);
    await promisify(execFile)(bundled.path, [
      '-nostdin',
      '-y',
      '-v',
      'error',
      '-f',
      'lavfi',
      '-i',
      'testsrc',
      '-frames',
      '1',
      at('p.png'),
    ]);
    for (const file of ['list.ffconcat', 'list.m3u8', 'p.png'])
      await expect(read(at(file))).rejects.toMatchObject({ code: 'audio_file_unreadable' });
  });

  it.skipIf(skipped || !sharedAvailable)('real recordings are read', async () => {
    const read = await readerWith(searched);
    for (const [file, seconds] of Object.entries({ 'libri-1998-15444-0001.flac': 6.025, 'jfk.wav': 11 }))
      expect((await read(sharedPath(`audio/${file}`))).length / 16_000).toBeCloseTo(seconds, 2);
  });
});
