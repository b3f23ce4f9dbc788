import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { pcm16FromFloats } from '../../voices/audio.ts';
import { EngineError } from '../../voices/engine.ts';
import { findFfmpeg, startFfmpeg, type Ffmpeg } from '../../voices/dsp/ffmpeg.ts';
import { wireSampleRate } from '../protocol/limits.ts';

/** Supported audio formats and their MIME types. `pcm` is 16-bit little-endian mono at 24 kHz. */
export const contentTypes = {
  mp3: 'audio/mpeg',
  opus: 'audio/ogg; codecs=opus',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
} as const;

export type SpeechFormat = keyof typeof contentTypes;

const encoders: Readonly<Record<Exclude<SpeechFormat, 'wav' | 'pcm'>, readonly string[]>> = {
  mp3: ['-c:a', 'libmp3lame', '-b:a', '64k', '-f', 'mp3'],
  opus: ['-c:a', 'libopus', '-b:a', '32k', '-f', 'ogg'],
  aac: ['-c:a', 'aac', '-b:a', '64k', '-f', 'adts'],
  flac: ['-c:a', 'flac', '-f', 'flac'],
};

/**
 * Encodes blocks of speech at the wire's sample rate as they arrive. Throws what the source throws, and `EngineError`.
 */
export async function* encodeSpeech(
  blocks: AsyncIterable<Float32Array>,
  format: SpeechFormat,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  if (format === 'wav') yield streamedWavHeader(wireSampleRate);
  if (format === 'wav' || format === 'pcm') {
    for await (const block of blocks) yield pcm16FromFloats(block);
    return;
  }
  yield* transcode(blocks, encoders[format], signal);
}

/** An encoder lives as long as the speech it encodes is made: at most 20,000 characters. */
const mostEncodingMs = 3_600_000;

/** A WAV header with the largest possible lengths, as is usual for a streamed WAV. */
function streamedWavHeader(sampleRate: number): Buffer {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(0xff_ff_ff_ff, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(sampleRate * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(0xff_ff_ff_ff, 40);
  return header;
}

async function* transcode(
  blocks: AsyncIterable<Float32Array>,
  output: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const format = ['-f', 's16le', '-ar', String(wireSampleRate), '-ac', '1'];
  const input = ['-protocol_whitelist', 'pipe', ...format, '-i', 'pipe:0'];
  const child = startFfmpeg(await findEncoder(), {
    input,
    output: [...output, '-flush_packets', '1'],
    stdin: 'pipe',
    timeoutMs: mostEncodingMs,
    signal,
  });
  const exit = new Promise<unknown>((resolve) => {
    child.once('error', resolve);
    child.once('close', resolve);
  });
  let failure: { readonly reason: unknown } | undefined;
  const feeding = feed(blocks, child).catch((reason: unknown) => {
    failure = { reason };
    child.kill('SIGKILL');
  });
  try {
    for await (const bytes of child.stdout ?? []) yield bytes as Buffer;
    await feeding;
    const outcome = await exit;
    signal.throwIfAborted();
    if (failure !== undefined) throw failure.reason;
    if (outcome !== 0)
      throw new EngineError('ffmpeg', 'ENGINE_BAD_REPLY', 'ffmpeg failed to encode the speech', outcome);
  } finally {
    child.kill('SIGKILL');
  }
}

/** Writes blocks to ffmpeg with backpressure. */
async function feed(blocks: AsyncIterable<Float32Array>, child: ChildProcess): Promise<void> {
  const { stdin } = child;
  if (stdin === null) return;
  const closed = new AbortController();
  // ffmpeg closes its input early only if it fails or is killed; its exit status reports that.
  stdin.on('error', () => undefined);
  stdin.once('close', () => closed.abort());
  for await (const block of blocks) {
    if (stdin.destroyed) return;
    if (!stdin.write(pcm16FromFloats(block)))
      await once(stdin, 'drain', { signal: closed.signal }).catch(() => undefined);
  }
  stdin.end();
}

async function findEncoder(): Promise<Ffmpeg> {
  try {
    return await findFfmpeg();
  } catch (cause) {
    const detail = 'ffmpeg is not installed. Request wav or pcm, which need no encoder';
    throw new EngineError('ffmpeg', 'ENGINE_MISSING', detail, cause);
  }
}
