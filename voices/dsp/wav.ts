import { createReadStream } from 'node:fs';
import { createRequire } from 'node:module';
import type { Duplex, Writable } from 'node:stream';
import { concatSamples, pcm16FromFloats, type AudioFrame } from '../audio.ts';
import { writeFileAtomic } from '../runtime/files.ts';
import { highestSampleRate, lowestSampleRate } from './resampler.ts';

/** The bytes are not a WAV, or one of a kind that `wavFrames` does not read. */
export class WavFormatError extends Error {
  override readonly name = 'WavFormatError';
}

/** The used part of the package `wav`, which has no types of its own. */
interface WavLibrary {
  readonly Reader: new (options: { highWaterMark: number }) => WavReader;
  readonly Writer: new (options: { channels: number; sampleRate: number; bitDepth: number }) => Duplex;
}
interface WavReader {
  write(bytes: Buffer): boolean;
  read(): Buffer | null;
  on(event: 'format', listener: (format: WavFormat) => void): void;
  on(event: 'error', listener: (reason: Error) => void): void;
}
interface WavFormat {
  readonly audioFormat: number;
  readonly endianness: 'LE' | 'BE';
  readonly channels: number;
  readonly sampleRate: number;
  readonly bitDepth: number;
}

const require = createRequire(import.meta.url);
const wav = require('wav') as WavLibrary;

/**
 * Reads a WAV as a stream, block by block, mixed to mono at its own rate: PCM of 8, 16, 24 or 32 bits and 32-bit
 * floats, 8 to 192 kHz; infinities and NaN become silence. Ignores lengths in the header: a truncated file gives what
 * is there, and nothing is preallocated. Throws a `WavFormatError` before the first frame, never after it; a WAV
 * without samples gives no frame.
 */
export async function* wavFrames(
  source: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): AsyncGenerator<AudioFrame, void, undefined> {
  const header = openHeader();
  let held: Buffer = Buffer.alloc(0);
  let atMs = 0;
  for await (const bytes of source) {
    const data = header.feed(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    const { format } = header;
    if (data !== undefined && format !== undefined) {
      held = held.length === 0 ? data : Buffer.concat([held, data]);
      const samples = mixToMono(held, format);
      held = held.subarray(samples.length * bytesPerFrame(format));
      if (samples.length > 0) yield { samples, sampleRate: format.sampleRate, atMs };
      atMs += (samples.length / format.sampleRate) * 1000;
    }
    if (header.isOver) break;
  }
  if (header.format === undefined) throw new WavFormatError('the WAV header is incomplete');
}

/** Reads a whole WAV from a file or memory; see `wavFrames`. Also throws a `WavFormatError` if it has no samples. */
export async function readWav(source: string | Uint8Array): Promise<AudioFrame> {
  const blocks: Float32Array[] = [];
  let sampleRate: number | undefined;
  for await (const frame of wavFrames(typeof source === 'string' ? createReadStream(source) : [source])) {
    blocks.push(frame.samples);
    sampleRate = frame.sampleRate;
  }
  if (sampleRate === undefined) throw new WavFormatError('the WAV file contains no samples');
  return { samples: concatSamples(blocks), sampleRate, atMs: 0 };
}

/** Encodes a mono 16-bit WAV file; samples outside [-1, 1] are clipped. */
export async function wavBytes(samples: Float32Array, sampleRate: number): Promise<Buffer> {
  const pcm = pcm16FromFloats(samples);
  const writer = new wav.Writer({ channels: 1, sampleRate, bitDepth: 16 });
  // The writer learns the length last: the header it streams is a placeholder, the event delivers the right one.
  const header = new Promise<Buffer>((resolve) => writer.once('header', resolve));
  writer.resume();
  writer.end(pcm);
  return Buffer.concat([await header, pcm]);
}

/** Writes a mono 16-bit WAV: to a file atomically, or to a stream, which is left open. */
export async function writeWav(target: string | Writable, samples: Float32Array, sampleRate: number): Promise<void> {
  const bytes = await wavBytes(samples, sampleRate);
  if (typeof target !== 'string') {
    return new Promise((resolve, reject) => {
      target.write(bytes, (reason) => (reason ? reject(reason) : resolve()));
    });
  }
  await writeFileAtomic(target, bytes);
}

/** Takes the bytes of a WAV in order; `format` is known once the header has passed, `feed` returns the audio bytes. */
interface Header {
  readonly format: WavFormat | undefined;
  /** True once the bytes after the audio are no longer WAV. */
  readonly isOver: boolean;
  feed(bytes: Buffer): Buffer | undefined;
}

function openHeader(): Header {
  // With a buffer large enough for everything, the reader works within `write`, so errors it throws on hostile headers
  // can be caught here.
  const reader = new wav.Reader({ highWaterMark: 2 ** 30 });
  let format: WavFormat | undefined;
  let failure: unknown;
  let heard = false;
  reader.on('format', (found) => (format = found));
  reader.on('error', (reason) => (failure = reason));
  return {
    get format() {
      return format;
    },
    get isOver() {
      return failure !== undefined;
    },
    feed(bytes) {
      try {
        reader.write(bytes);
      } catch (reason) {
        failure = reason;
      }
      const data = reader.read() ?? undefined;
      heard ||= data !== undefined;
      if (failure !== undefined && !heard) throw new WavFormatError('this is not a WAV file', { cause: failure });
      if (format !== undefined && !isReadable(format)) throw new WavFormatError('this WAV encoding is not supported');
      return data;
    },
  };
}

function isReadable({ audioFormat, endianness, channels, sampleRate, bitDepth }: WavFormat): boolean {
  const depths = audioFormat === 1 ? [8, 16, 24, 32] : audioFormat === 3 ? [32] : [];
  const rateIsUsual = sampleRate >= lowestSampleRate && sampleRate <= highestSampleRate;
  return endianness === 'LE' && depths.includes(bitDepth) && rateIsUsual && channels >= 1 && channels <= 32;
}

function bytesPerFrame(format: WavFormat): number {
  return (format.channels * format.bitDepth) / 8;
}

/** Mixes the whole frames in `bytes` to mono: the mean of their channels. */
function mixToMono(bytes: Buffer, format: WavFormat): Float32Array {
  const { channels } = format;
  const sampleBytes = format.bitDepth / 8;
  const read = sampleReader(bytes, format);
  const samples = new Float32Array(Math.floor(bytes.length / (sampleBytes * channels)));
  let offset = 0;
  for (let index = 0; index < samples.length; index += 1) {
    let sum = 0;
    for (let channel = 0; channel < channels; channel += 1, offset += sampleBytes) sum += read(offset);
    samples[index] = sum / channels;
  }
  return samples;
}

function sampleReader(bytes: Buffer, { audioFormat, bitDepth }: WavFormat): (offset: number) => number {
  if (audioFormat === 3) return (offset) => finite(bytes.readFloatLE(offset));
  if (bitDepth === 8) return (offset) => (bytes.readUInt8(offset) - 128) / 128;
  const scale = 2 ** (bitDepth - 1);
  return (offset) => bytes.readIntLE(offset, bitDepth / 8) / scale;
}

function finite(value: number): number {
  return Number.isFinite(value) ? value : 0;
}
