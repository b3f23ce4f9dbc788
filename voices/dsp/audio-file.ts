import { spawn } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { access, constants, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { concatSamples, floatsFromPcm16, type AudioFrame } from '../audio.ts';
import type { CallOptions } from '../engine.ts';
import { ffmpegPath } from './ffmpeg.ts';
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

/**
 * Reads a recording as one mono frame. Reads plain WAV itself and everything else through ffmpeg. A truncated file
 * gives what is there; a file without audio, or one that is not a recording, throws an `AudioFileError`. Time and
 * memory do not depend on lengths claimed in a header.
 */
export async function readAudioFile(path: string, options: AudioFileOptions): Promise<AudioFrame> {
  const timeout = AbortSignal.timeout(options.timeoutMs ?? 60_000);
  const signal = AbortSignal.any([options.signal, timeout]);
  try {
    signal.throwIfAborted();
    await checkFile(path, options.maxBytes ?? 200 * 2 ** 20);
    const bounded = { sampleRate: options.sampleRate, maxSeconds: options.maxSeconds ?? 600, signal };
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
  const { sampleRate, maxSeconds, signal } = bounded;
  const input = ['-protocol_whitelist', 'file,pipe', '-format_whitelist', containers, '-i', `file:${resolve(path)}`];
  const output = ['-map', '0:a:0', '-t', String(maxSeconds + 1), '-ac', '1', '-ar', String(sampleRate)];
  const child = spawn(
    await findFfmpeg(path),
    ['-nostdin', '-v', 'error', ...input, ...output, '-f', 's16le', 'pipe:1'],
    {
      stdio: ['ignore', 'pipe', 'ignore'],
      signal,
      killSignal: 'SIGKILL',
    },
  );
  const exit = new Promise<unknown>((done) => {
    child.once('error', done);
    child.once('close', done);
  });
  let atMs = 0;
  try {
    let held: Buffer = Buffer.alloc(0);
    for await (const bytes of child.stdout as AsyncIterable<Buffer>) {
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

async function findFfmpeg(path: string): Promise<string> {
  try {
    return await ffmpegPath();
  } catch (cause) {
    const detail = 'only 16-bit WAV files can be read without ffmpeg, and ffmpeg is not installed';
    throw new AudioFileError(path, 'audio_file_unreadable', detail, cause);
  }
}
