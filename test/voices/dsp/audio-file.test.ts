import { execFile } from 'node:child_process';
import { truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import ffmpeg from '@ffmpeg-installer/ffmpeg';
import { beforeAll, describe, expect, it } from 'vitest';
import { AudioFileError, readAudioFile, type AudioFileOptions } from '../../../voices/dsp/audio-file.ts';
import { wavBytes, writeWav } from '../../../voices/dsp/wav.ts';
import { sharedAvailable, sharedPath } from '../../shared.ts';
import { testFolder } from '../../fakes/test-folder.ts';

let folder: string;
const at = (name: string) => join(folder, name);
const tone = (sampleRate: number, seconds: number) =>
  Float32Array.from(
    { length: sampleRate * seconds },
    (_, index) => 0.5 * Math.sin((2 * Math.PI * 440 * index) / sampleRate),
  );

beforeAll(async () => {
  folder = testFolder();
  await writeWav(at('tone.wav'), tone(22_050, 2), 22_050);
  for (const name of ['tone.flac', 'tone.mp3', 'tone.m4a', 'tone.webm', 'extensible.wav', '-odd: name.ogg']) {
    const codec = name === 'extensible.wav' ? ['-c:a', 'pcm_s24le'] : [];
    const args = ['-nostdin', '-v', 'error', '-i', at('tone.wav'), ...codec, `file:${at(name)}`];
    await promisify(execFile)(ffmpeg.path, args);
  }
});

function read(path: string, changes: Partial<AudioFileOptions> = {}) {
  return readAudioFile(path, { sampleRate: 16_000, signal: new AbortController().signal, ...changes });
}

async function failure(path: string, changes: Partial<AudioFileOptions> = {}): Promise<string> {
  const reason: unknown = await read(path, changes).then(
    () => 'no failure',
    (thrown: unknown) => thrown,
  );
  expect(reason).toBeInstanceOf(AudioFileError);
  expect((reason as AudioFileError).message).toMatch(/: .+: .+/);
  return (reason as AudioFileError).code;
}

describe('reading a recording', () => {
  it('a recording is read as mono at the requested rate, from WAV and from what ffmpeg knows', async () => {
    const names = ['tone.wav', 'tone.flac', 'tone.mp3', 'tone.m4a', 'tone.webm', 'extensible.wav', '-odd: name.ogg'];
    for (const name of names) {
      const frame = await read(at(name), { sampleRate: 24_000 });
      expect(frame).toMatchObject({ sampleRate: 24_000, atMs: 0 });
      expect(Math.abs(frame.samples.length / 24_000 - 2)).toBeLessThan(0.1);
      const middle = frame.samples.subarray(12_000, 36_000);
      const level = Math.sqrt(middle.reduce((sum, value) => sum + value * value, 0) / middle.length);
      expect(level).toBeCloseTo(0.5 * Math.SQRT1_2, 1);
    }
  });

  it('the samples of a recording are unchanged if nothing needs converting', async () => {
    const samples = Float32Array.of(0.5, -0.25, 0.125);
    await writeWav(at('exact.wav'), samples, 16_000);
    expect((await read(at('exact.wav'))).samples).toEqual(samples);
  });

  it('a truncated recording is read as far as it goes', async () => {
    const whole = await wavBytes(tone(16_000, 2), 16_000);
    await writeFile(at('cut.wav'), whole.subarray(0, 44 + 16_000));
    expect((await read(at('cut.wav'))).samples).toHaveLength(8_000);
  });

  it('a truncated recording is refused if it must be whole, a streamed one is not', async () => {
    const whole = await wavBytes(tone(16_000, 2), 16_000);
    await writeFile(at('half.wav'), whole.subarray(0, 44 + 32_000));
    await expect(read(at('half.wav'), { mustBeWhole: true })).rejects.toThrow(
      'it is cut off after 50 %: copy or record it again',
    );
    whole.writeUInt32LE(0xff_ff_ff_ff, 40);
    await writeFile(at('streamed.wav'), whole);
    expect((await read(at('streamed.wav'), { mustBeWhole: true })).samples).toHaveLength(32_000);
  });

  it('no memory is reserved for ten hours that only the WAV header claims', async () => {
    const bytes = await wavBytes(tone(16_000, 1), 16_000);
    bytes.writeUInt32LE(16_000 * 2 * 36_000, 40);
    await writeFile(at('liar.wav'), bytes);
    expect((await read(at('liar.wav'))).samples).toHaveLength(16_000);
  });

  it('a missing recording is reported by name', async () => {
    expect(await failure(at('absent.wav'))).toBe('audio_file_not_found');
    expect(await failure(at('tone.wav/deeper.wav'))).toBe('audio_file_not_found');
  });

  it('an empty recording is reported by name', async () => {
    await writeFile(at('empty.wav'), '');
    await writeWav(at('silent.wav'), new Float32Array(0), 16_000);
    expect(await failure(at('empty.wav'))).toBe('audio_file_empty');
    expect(await failure(at('silent.wav'))).toBe('audio_file_empty');
  });

  it('a file that is no recording is reported by name', async () => {
    const playlist = `#EXTM3U\n#EXTINF:2,\nfile://${at('tone.wav')}\n`;
    await writeFile(at('text.wav'), 'This is no sound. '.repeat(500));
    await writeFile(
      at('bytes.mp3'),
      Buffer.from(Uint8Array.from({ length: 50_000 }, (_, index) => (index * 7919) % 251)),
    );
    await writeFile(at('list.m3u8'), playlist);
    await writeFile(at('list.wav'), playlist);
    for (const name of ['text.wav', 'bytes.mp3', 'list.m3u8', 'list.wav', '.']) {
      expect(await failure(at(name))).toBe('audio_file_unreadable');
    }
  });

  it('a file that is too large is refused before it is read', async () => {
    await writeFile(at('large.wav'), await wavBytes(tone(16_000, 1), 16_000));
    await truncate(at('large.wav'), 201 * 2 ** 20);
    expect(await failure(at('large.wav'))).toBe('audio_file_too_large');
    expect(await failure(at('tone.wav'), { maxBytes: 1_000 })).toBe('audio_file_too_large');
  });

  it('a recording that is too long is refused, however it is compressed', async () => {
    for (const name of ['tone.wav', 'tone.flac', 'tone.mp3']) {
      expect(await failure(at(name), { maxSeconds: 1.5 })).toBe('audio_file_too_long');
    }
    expect((await read(at('tone.wav'), { maxSeconds: 2 })).samples).toHaveLength(32_000);
  });

  it('a recording of ten hours is refused without reading all of it', async () => {
    const bytes = await wavBytes(tone(8_000, 1), 8_000);
    bytes.writeUInt32LE(36_000 * 8_000 * 2, 40);
    await writeFile(at('hours.wav'), bytes);
    await truncate(at('hours.wav'), 44 + 36_000 * 8_000 * 2);
    expect(await failure(at('hours.wav'), { maxBytes: 2 ** 30, timeoutMs: 20_000 })).toBe('audio_file_too_long');
  });

  it('reading a recording stops at its time limit', async () => {
    expect(await failure(at('tone.flac'), { timeoutMs: 1 })).toBe('audio_file_timeout');
  });

  it('an abort before or during the reading throws its reason', async () => {
    await expect(read(at('tone.wav'), { signal: AbortSignal.abort('late') })).rejects.toBe('late');
    for (const name of ['tone.wav', 'tone.flac']) {
      const abort = new AbortController();
      const reading = read(at(name), { signal: abort.signal });
      setImmediate(() => abort.abort('hung up'));
      await expect(reading).rejects.toBe('hung up');
    }
  });

  it('an invalid sample rate is refused', async () => {
    await expect(read(at('tone.wav'), { sampleRate: 500 })).rejects.toBeInstanceOf(RangeError);
  });

  it.skipIf(!sharedAvailable)('real recordings are read', async () => {
    const lengths = { 'libri-1998-15444-0001.flac': 6.025, 'LJ001-0002.wav': 1.9, 'jfk.wav': 11 };
    for (const [name, seconds] of Object.entries(lengths)) {
      const { samples } = await read(sharedPath(`audio/${name}`));
      expect(samples.length / 16_000).toBeCloseTo(seconds, 2);
    }
  });
});
