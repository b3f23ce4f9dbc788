import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import * as fc from '../../fakes/property.ts';
import { describe, expect, it } from 'vitest';
import { concatSamples, floatsFromPcm16, pcm16FromFloats } from '../../../voices/audio.ts';
import { readWav, wavBytes, WavFormatError, wavFrames, writeWav } from '../../../voices/dsp/wav.ts';
import { sharedAvailable, sharedPath } from '../../shared.ts';
import { keptForTests } from '../../rigs/voice-engine-rig.ts';

const { folder } = await keptForTests();

interface WavParts {
  readonly audioFormat?: number;
  readonly channels?: number;
  readonly sampleRate?: number;
  readonly bitDepth?: number;
  readonly claimedBytes?: number;
  readonly chunksBefore?: Buffer;
  readonly data: Buffer;
}

function chunk(id: string, body: Buffer, claimedBytes = body.length): Buffer {
  const head = Buffer.alloc(8);
  head.write(id, 'ascii');
  head.writeUInt32LE(claimedBytes, 4);
  return Buffer.concat([head, body]);
}

function wavFile(parts: WavParts): Buffer {
  const { audioFormat = 1, channels = 1, sampleRate = 16_000, bitDepth = 16, data } = parts;
  const format = Buffer.alloc(16);
  format.writeUInt16LE(audioFormat, 0);
  format.writeUInt16LE(channels, 2);
  format.writeUInt32LE(sampleRate, 4);
  format.writeUInt32LE((sampleRate * channels * bitDepth) / 8, 8);
  format.writeUInt16LE((channels * bitDepth) / 8, 12);
  format.writeUInt16LE(bitDepth, 14);
  const before = parts.chunksBefore ?? Buffer.alloc(0);
  return chunk(
    'RIFF',
    Buffer.concat([Buffer.from('WAVE'), chunk('fmt ', format), before, chunk('data', data, parts.claimedBytes)]),
  );
}

const pcm = pcm16FromFloats(Float32Array.of(0.5, -0.5, 0.25, -1));

describe('reading WAV', () => {
  it('WAV of 8, 16, 24 and 32 bits and of floats is read', async () => {
    const wanted = [0.5, -0.5, 0.25, -1];
    const eight = Buffer.from(wanted.map((value) => value * 128 + 128));
    const deep = (bytes: number) => {
      const data = Buffer.alloc(bytes * 4);
      for (const [index, value] of wanted.entries())
        data.writeIntLE(value * 2 ** (8 * bytes - 1), index * bytes, bytes);
      return data;
    };
    const floats = Buffer.from(Float32Array.from(wanted).buffer);
    const files = [
      wavFile({ bitDepth: 8, data: eight }),
      wavFile({ bitDepth: 16, data: deep(2) }),
      wavFile({ bitDepth: 24, data: deep(3) }),
      wavFile({ bitDepth: 32, data: deep(4) }),
      wavFile({ audioFormat: 3, bitDepth: 32, data: floats }),
    ];
    for (const file of files) expect([...(await readWav(file)).samples]).toEqual(wanted);
  });

  it('NaN in a float WAV becomes silence', async () => {
    const data = Buffer.from(Float32Array.of(Number.NaN, 0.5, Number.POSITIVE_INFINITY).buffer);
    expect([...(await readWav(wavFile({ audioFormat: 3, bitDepth: 32, data }))).samples]).toEqual([0, 0.5, 0]);
  });

  it('the channels of a WAV are mixed to mono', async () => {
    const { samples, sampleRate } = await readWav(wavFile({ channels: 2, sampleRate: 44_100, data: pcm }));
    expect([...samples]).toEqual([0, -0.375]);
    expect(sampleRate).toBe(44_100);
  });

  it('unknown WAV chunks are skipped, before and after the audio', async () => {
    const list = chunk('LIST', Buffer.from('INFO'));
    const file = Buffer.concat([
      wavFile({ chunksBefore: list, data: pcm }),
      list,
      chunk('junk', Buffer.alloc(0)),
      list,
    ]);
    expect((await readWav(file)).samples).toEqual(floatsFromPcm16(pcm));
  });

  it('a truncated WAV is read to its end, regardless of its header', async () => {
    const tenHours = 16_000 * 2 * 36_000;
    const { samples } = await readWav(wavFile({ data: pcm.subarray(0, 5), claimedBytes: tenHours }));
    expect(samples).toEqual(floatsFromPcm16(pcm.subarray(0, 4)));
  });

  it('WAV frames are the same however the bytes arrive, each with its time', async () => {
    const samples = Float32Array.from(
      { length: 1_000 },
      (_, index) => (Math.round(Math.sin(index) * 2 ** 14) + 0) / 2 ** 15,
    );
    const bytes = await wavBytes(samples, 8_000);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 700 }), { maxLength: 20 }), async (lengths) => {
        const pieces: Buffer[] = [];
        let offset = 0;
        for (const length of [...lengths, bytes.length]) {
          pieces.push(bytes.subarray(offset, offset + length));
          offset += length;
        }
        const blocks: Float32Array[] = [];
        let heard = 0;
        for await (const frame of wavFrames(pieces)) {
          expect(frame.atMs).toBeCloseTo(heard / 8, 6);
          heard += frame.samples.length;
          blocks.push(frame.samples);
        }
        expect(concatSamples(blocks)).toEqual(samples);
      }),
      { numRuns: 50 },
    );
  });

  it('a file that is not WAV, an unsupported WAV or an empty one is refused without a crash', async () => {
    const whole = wavFile({ data: pcm });
    const files = [
      Buffer.alloc(0),
      Buffer.from('ID3 this is something else'),
      whole.subarray(0, 20),
      whole.subarray(0, 44),
      wavFile({ audioFormat: 0x11, bitDepth: 4, data: pcm }),
      wavFile({ audioFormat: 0xfffe, data: pcm }),
      wavFile({ bitDepth: 12, data: pcm }),
      wavFile({ channels: 0, data: pcm }),
      wavFile({ sampleRate: 0, data: pcm }),
      chunk('RIFF', Buffer.concat([Buffer.from('WAVE'), chunk('fmt ', Buffer.alloc(0)), chunk('data', pcm)])),
      chunk('RIFF', Buffer.concat([Buffer.from('WAVE'), chunk('fmt ', Buffer.alloc(2)), chunk('data', pcm)])),
      wavFile({ chunksBefore: chunk('LIST', Buffer.alloc(0)), data: pcm }),
    ];
    for (const file of files) await expect(readWav(file)).rejects.toBeInstanceOf(WavFormatError);
  });

  it('the WAV reader survives any bytes after a valid beginning', async () => {
    const whole = wavFile({ data: pcm });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 52 }), fc.uint8Array({ maxLength: 200 }), async (kept, noise) => {
        const outcome = await readWav(Buffer.concat([whole.subarray(0, kept), noise])).then(
          () => 'read',
          (reason: Error) => reason.name,
        );
        expect(['read', 'WavFormatError']).toContain(outcome);
      }),
      { numRuns: 500 },
    );
  });

  it('the WAV reader passes on the failure of its source', async () => {
    await expect(readWav(join(folder, 'absent.wav'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it.skipIf(!sharedAvailable)('WAV files of real recordings are read', async () => {
    expect((await readWav(sharedPath('audio/jfk.wav'))).samples).toHaveLength(176_000);
    expect(await readWav(sharedPath('audio/LJ001-0002.wav'))).toMatchObject({ sampleRate: 22_050 });
  });
});

describe('writing WAV', () => {
  it('a written WAV can be read again', async () => {
    for (const samples of [floatsFromPcm16(pcm), Float32Array.of(0.125), new Float32Array(100_000).fill(-0.5)]) {
      const path = join(folder, 'written.wav');
      await writeWav(path, samples, 24_000);
      expect(await readWav(path)).toEqual({ samples, sampleRate: 24_000, atMs: 0 });
    }
  });

  it('a WAV header states true lengths, even for no samples', async () => {
    for (const count of [0, 1, 333]) {
      const bytes = await wavBytes(new Float32Array(count), 16_000);
      expect(bytes).toHaveLength(44 + count * 2);
      expect(bytes.readUInt32LE(4)).toBe(36 + count * 2);
      expect(bytes.readUInt32LE(40)).toBe(count * 2);
      expect(bytes).toEqual(wavFile({ data: Buffer.alloc(count * 2) }));
    }
  });

  it('a WAV is written to a stream, which stays open', async () => {
    const stream = new PassThrough();
    await writeWav(stream, floatsFromPcm16(pcm), 16_000);
    expect(stream.writableEnded).toBe(false);
    expect(stream.read()).toEqual(wavFile({ data: pcm }));
  });

  it('a failed write leaves the old WAV file and no other', async () => {
    const blocked = join(folder, 'kept.wav');
    await writeWav(join(folder, 'kept.wav'), floatsFromPcm16(pcm), 16_000);
    const before = await readdir(folder);
    await expect(writeWav(join(blocked, 'a.wav'), floatsFromPcm16(pcm), 16_000)).rejects.toThrow(/ENOTDIR|EEXIST/);
    await expect(writeWav(folder, floatsFromPcm16(pcm), 16_000)).rejects.toThrow(/EISDIR|EPERM|ENOTEMPTY|EEXIST/);
    expect(await readdir(folder)).toEqual(before);
    expect(await readFile(join(folder, 'kept.wav'))).toEqual(wavFile({ data: pcm }));
  });

  it('writing a WAV replaces an existing file', async () => {
    const path = join(folder, 'old.wav');
    await writeFile(path, 'something longer than any header and more than that, so that no rest may stay behind');
    await writeWav(path, floatsFromPcm16(pcm), 16_000);
    expect(await readFile(path)).toEqual(wavFile({ data: pcm }));
  });
});
