import { createReadStream } from 'node:fs';
import { access, constants, open, stat, type FileHandle } from 'node:fs/promises';
import { concatSamples, floatsFromPcm16, type AudioFrame } from '../audio.ts';
import type { CallOptions } from '../engine.ts';
import { findFfmpeg, startFfmpeg, type Ffmpeg } from './ffmpeg.ts';
import { Resampler } from './resampler.ts';
import { wavFrames, WavFormatError } from './wav.ts';

export type AudioFileErrorCode =
  | 'audio_file_not_found'
  | 'audio_file_empty'
  | 'audio_file_too_large'
  | 'audio_file_too_long'
  | 'audio_file_unreadable'
  | 'audio_file_timeout';

/** A recording could not be read; the message says what to do about it. */
export class AudioFileError extends Error {
  override readonly name = 'AudioFileError';
  readonly code: AudioFileErrorCode;

  constructor(path: string, code: AudioFileErrorCode, detail: string, cause?: unknown) {
    super(`${path}: ${detail}`, { cause });
    this.code = code;
  }
}

export interface AudioFileOptions extends CallOptions {
  /** Sample rate of the returned frame, in hertz: a whole number from 8000 to 192000. */
  readonly sampleRate: number;
  /** A WAV that is shorter than its header says is an error. Default: false. */
  readonly mustBeWhole?: boolean;
  /** Longer recordings are an error. Default: 600. */
  readonly maxSeconds?: number;
  /** Larger files are an error. Default: 200 MiB. */
  readonly maxBytes?: number;
  /** Default: 60000. */
  readonly timeoutMs?: number;
}

/** Containers that ffmpeg may open. Playlists and scripts are left out: they would make ffmpeg open other files. */
const containers =
  'wav,w64,aiff,caf,au,flac,mp3,ogg,mov,matroska,aac,ac3,amr,amrnb,amrwb,ape,asf,avi,mpeg,mpegts,wv,gsm,rm,tta,tak,dsf';

/** Decoders that ffmpeg may use: of speech and music in these containers, none of pictures or games. */
const decoders = [
  'aac,aac_fixed,aac_latm,ac3,ac3_fixed,eac3,alac,als,amrnb,amrwb,libopencore_amrnb,libopencore_amrwb,ape,atrac1',
  'atrac3,atrac3al,atrac3plus,atrac3plusal,cook,dca,dsd_lsbf,dsd_lsbf_planar,dsd_msbf,dsd_msbf_planar,dst,flac,g722',
  'g726,g726le,gsm,gsm_ms,libgsm,libgsm_ms,ilbc,mace3,mace6,mlp,truehd,mp1,mp1float,mp2,mp2float,mp3,mp3float,nellymoser',
  'opus,libopus,qcelp,qdm2,qdmc,real_144,real_288,sipr,speex,libspeex,tak,truespeech,tta,vorbis,libvorbis,wavpack',
  'wmalossless,wmapro,wmav1,wmav2,wmavoice,adpcm_ima_qt,adpcm_ima_wav,adpcm_ms,adpcm_yamaha,pcm_alaw,pcm_mulaw,pcm_vidc',
  'pcm_bluray,pcm_dvd,pcm_f16le,pcm_f24le,pcm_f32be,pcm_f32le,pcm_f64be,pcm_f64le,pcm_lxf,pcm_s16be,pcm_s16be_planar',
  'pcm_s16le,pcm_s16le_planar,pcm_s24be,pcm_s24le,pcm_s24le_planar,pcm_s32be,pcm_s32le,pcm_s32le_planar,pcm_s64be',
  'pcm_s64le,pcm_s8,pcm_s8_planar,pcm_u16be,pcm_u16le,pcm_u24be,pcm_u24le,pcm_u32be,pcm_u32le,pcm_u8',
].join(',');

/** Bounds of what ffmpeg reads to find out what a file is: bytes, microseconds, streams. */
const probing = ['-probesize', '5000000', '-analyzeduration', '5000000', '-max_streams', '64'];

/**
 * Reads a recording as one mono frame. Reads plain WAV itself and everything else through ffmpeg. A truncated file
 * gives the available part; a file without audio, or one that is not a recording, throws an `AudioFileError`. Time and
 * memory do not depend on lengths claimed in a header.
 */
export async function readAudioFile(path: string, options: AudioFileOptions): Promise<AudioFrame> {
  const { timeoutMs = 60_000 } = options;
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([options.signal, timeout]);
  try {
    signal.throwIfAborted();
    await checkFile(path, options.maxBytes ?? 200 * 2 ** 20);
    if (options.mustBeWhole === true) await checkWhole(path);
    const bounded = { sampleRate: options.sampleRate, maxSeconds: options.maxSeconds ?? 600, timeoutMs, signal };
    const samples = (await readPlainWav(path, bounded)) ?? (await collect(path, ffmpegFrames(path, bounded), bounded));
    if (samples.length > 0) return { samples, sampleRate: options.sampleRate, atMs: 0 };
    throw new AudioFileError(path, 'audio_file_empty', 'it contains no audio: record it again');
  } catch (reason) {
    options.signal.throwIfAborted();
    if (!timeout.aborted || reason instanceof AudioFileError) throw reason;
    const detail = 'decoding took too long: convert it to a 16-bit WAV file, or split it';
    throw new AudioFileError(path, 'audio_file_timeout', detail, reason);
  }
}

interface Bounded extends CallOptions {
  readonly sampleRate: number;
  readonly maxSeconds: number;
  readonly timeoutMs: number;
}

async function checkFile(path: string, maxBytes: number): Promise<void> {
  const file = await stat(path).catch((cause: unknown) => {
    throw new AudioFileError(path, 'audio_file_not_found', 'the file does not exist: check the path', cause);
  });
  if (!file.isFile()) throw new AudioFileError(path, 'audio_file_unreadable', 'this is not a file: name one recording');
  if (file.size === 0) throw new AudioFileError(path, 'audio_file_empty', 'the file is empty: record it again');
  if (file.size > maxBytes) {
    const detail = `the file has ${file.size} bytes, more than ${maxBytes}: split it`;
    throw new AudioFileError(path, 'audio_file_too_large', detail);
  }
  await access(path, constants.R_OK).catch((cause: unknown) => {
    throw new AudioFileError(path, 'audio_file_unreadable', 'it cannot be opened: check its permissions', cause);
  });
}

/** Lengths from here on mean "unknown" in the header of a WAV that was streamed. */
const unknownBytes = 0x7f_ff_00_00;

/** Throws if a WAV holds less audio than its header says, as after a copy that broke off. */
async function checkWhole(path: string): Promise<void> {
  await using file = await open(path);
  const { size } = await file.stat();
  const { buffer, bytesRead } = await file.read(Buffer.alloc(4_096), 0, 4_096, 0);
  const head = buffer.subarray(0, bytesRead);
  const isWav = head.toString('latin1', 0, 4) === 'RIFF' && head.toString('latin1', 8, 12) === 'WAVE';
  let at = isWav ? 12 : head.length;
  while (at + 8 <= head.length && head.toString('latin1', at, at + 4) !== 'data') at += 8 + head.readUInt32LE(at + 4);
  if (at + 8 > head.length) return;
  const claimed = head.readUInt32LE(at + 4);
  if (claimed === 0 || claimed >= unknownBytes || at + 8 + claimed <= size) return;
  const there = Math.round((100 * (size - at - 8)) / claimed);
  throw new AudioFileError(path, 'audio_file_unreadable', `it is cut off after ${there} %: copy or record it again`);
}

/** Returns `undefined` if the file should be read by ffmpeg instead. */
async function readPlainWav(path: string, bounded: Bounded): Promise<Float32Array | undefined> {
  try {
    const samples = await collect(path, wavFrames(createReadStream(path, { signal: bounded.signal })), bounded);
    return samples.length > 0 ? samples : undefined;
  } catch (reason) {
    if (reason instanceof WavFormatError) return undefined;
    throw reason;
  }
}

/** Resamples blocks as they arrive and stops reading as soon as the recording is too long. */
async function collect(path: string, frames: AsyncIterable<AudioFrame>, bounded: Bounded): Promise<Float32Array> {
  const { sampleRate, maxSeconds } = bounded;
  const blocks: Float32Array[] = [];
  let seconds = 0;
  let resampler: Resampler | undefined;
  for await (const frame of frames) {
    seconds += frame.samples.length / frame.sampleRate;
    if (seconds > maxSeconds + 1e-6) {
      const detail = `it is longer than ${maxSeconds} seconds: split it`;
      throw new AudioFileError(path, 'audio_file_too_long', detail);
    }
    resampler ??= new Resampler(frame.sampleRate, sampleRate);
    blocks.push(resampler.push(frame.samples));
  }
  if (resampler !== undefined) blocks.push(resampler.flush());
  return concatSamples(blocks);
}

async function* ffmpegFrames(path: string, bounded: Bounded): AsyncGenerator<AudioFrame, void, undefined> {
  const { sampleRate, maxSeconds, timeoutMs, signal } = bounded;
  const ffmpeg = await findDecoder(path);
  await using file = await open(path);
  const input = ['-codec_whitelist', decoders, '-format_whitelist', containers, ...probing, ...(await sourceOf(file))];
  const output = ['-map', '0:a:0', '-t', String(maxSeconds + 1), '-ac', '1', '-ar', String(sampleRate), '-f', 's16le'];
  const child = startFfmpeg(ffmpeg, { input, output, stdin: file.fd, timeoutMs, signal });
  const exit = new Promise<unknown>((done) => {
    child.once('error', done);
    child.once('close', done);
  });
  let atMs = 0;
  try {
    let held: Buffer = Buffer.alloc(0);
    for await (const bytes of child.stdout as unknown as AsyncIterable<Buffer>) {
      held = held.length === 0 ? bytes : Buffer.concat([held, bytes]);
      const samples = floatsFromPcm16(held);
      held = held.subarray(samples.length * 2);
      yield { samples, sampleRate, atMs };
      atMs += (samples.length / sampleRate) * 1000;
    }
    const outcome = await exit;
    signal.throwIfAborted();
    if (outcome === 0) return;
    const detail = 'this is not a readable recording: convert it to a 16-bit WAV file';
    throw new AudioFileError(path, 'audio_file_unreadable', detail, outcome);
  } finally {
    child.kill('SIGKILL');
  }
}

/**
 * Options by which ffmpeg reads an open file from standard input, because it may open nothing by name. The index of a
 * QuickTime file may be at its end, so such a file is read through a cache that ffmpeg can seek in.
 */
async function sourceOf(file: FileHandle): Promise<string[]> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(8), 0, 8, 0);
  const isQuickTime = /^(ftyp|moov|mdat|free|skip|wide|pnot)$/.test(buffer.toString('latin1', 4, bytesRead));
  return isQuickTime
    ? ['-protocol_whitelist', 'cache,pipe', '-read_ahead_limit', '-1', '-i', 'cache:pipe:0']
    : ['-protocol_whitelist', 'pipe', '-i', 'pipe:0'];
}

async function findDecoder(path: string): Promise<Ffmpeg> {
  try {
    return await findFfmpeg();
  } catch (cause) {
    const detail = 'only 16-bit WAV files can be read without ffmpeg, and ffmpeg is not installed';
    throw new AudioFileError(path, 'audio_file_unreadable', detail, cause);
  }
}
