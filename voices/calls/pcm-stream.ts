import { floatsFromPcm16 } from '../audio.ts';
import { wavFrames, WavFormatError } from '../dsp/wav.ts';
import type { TimedPhone, TimedWord } from '../synthesizer.ts';

/** Mono samples in [-1, 1). */
export interface PcmBlock {
  readonly samples: Float32Array;
  readonly sampleRate: number;
  /** Words that the engine places, in milliseconds from the start of all audio, earlier or later audio included. */
  readonly told?: readonly TimedWord[];
  /** Sounds that the engine places, likewise, in order. */
  readonly sounds?: readonly TimedPhone[];
}

/** Format of the bytes if they are not a WAV: little-endian, mono. */
export interface RawFormat {
  readonly sampleRate: number;
  readonly encoding?: 's16' | 'f32';
}

/**
 * Decodes audio as servers send it: a WAV, ignoring the lengths in its header, or raw PCM, ignoring the content type.
 * Yields blocks as the bytes arrive; a sample split between two pieces waits for its other half. Throws
 * `WavFormatError` on a WAV that cannot be read. Call it again for each message if every message may bring a header.
 */
export async function* pcmBlocks(
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  raw: RawFormat,
): AsyncGenerator<PcmBlock> {
  const source = peekable(bytes);
  const head = await source.head(12);
  if (!isWav(head)) {
    yield* rawBlocks(source.all(), raw);
    return;
  }
  for await (const { samples, sampleRate } of wavFrames(source.all())) yield { samples, sampleRate };
}

/** Times of words and sounds that come in a message of their own. */
export type PlacedTimes = Pick<PcmBlock, 'told' | 'sounds'>;

/**
 * Like `pcmBlocks`, for messages, any of which may be a WAV; those without a header keep the rate of the last one. Times
 * become a block without samples.
 */
export async function* pcmBlocksOfMessages(
  messages: AsyncIterable<Buffer | PlacedTimes>,
  raw: RawFormat,
): AsyncGenerator<PcmBlock> {
  const size = raw.encoding === 'f32' ? 4 : 2;
  let format = raw;
  let held: Buffer = Buffer.alloc(0);
  for await (const message of messages) {
    if (!Buffer.isBuffer(message)) {
      yield { samples: new Float32Array(0), sampleRate: format.sampleRate, ...message };
      continue;
    }
    if (isWav(message)) {
      held = Buffer.alloc(0);
      for await (const block of pcmBlocks([message], format)) {
        format = { sampleRate: block.sampleRate };
        yield block;
      }
      continue;
    }
    const joined = Buffer.concat([held, message]);
    const whole = joined.subarray(0, joined.length - (joined.length % size));
    held = joined.subarray(whole.length);
    yield* pcmBlocks([whole], format);
  }
}

function isWav(head: Buffer): boolean {
  return head.toString('latin1', 0, 4) === 'RIFF' && head.toString('latin1', 8, 12) === 'WAVE';
}

/** True if the failure is caused by the format of the bytes. */
export function isFormatFault(cause: unknown): boolean {
  return cause instanceof WavFormatError;
}

async function* rawBlocks(
  bytes: AsyncIterable<Buffer>,
  { sampleRate, encoding = 's16' }: RawFormat,
): AsyncGenerator<PcmBlock> {
  const size = encoding === 's16' ? 2 : 4;
  let held: Buffer = Buffer.alloc(0);
  for await (const piece of bytes) {
    const joined = held.length === 0 ? piece : Buffer.concat([held, piece]);
    const whole = joined.subarray(0, joined.length - (joined.length % size));
    held = joined.subarray(whole.length);
    if (whole.length === 0) continue;
    yield { samples: encoding === 's16' ? floatsFromPcm16(whole) : floatsFromPcm32(whole), sampleRate };
  }
}

/** 32-bit floats; values that are not finite become silence. */
function floatsFromPcm32(bytes: Buffer): Float32Array {
  return Float32Array.from({ length: bytes.length / 4 }, (_, index) => {
    const value = bytes.readFloatLE(index * 4);
    return Number.isFinite(value) ? value : 0;
  });
}

/** A byte stream whose beginning can be inspected first. */
function peekable(bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): {
  head(length: number): Promise<Buffer>;
  all(): AsyncGenerator<Buffer>;
} {
  const pieces = (async function* (): AsyncGenerator<Buffer> {
    for await (const piece of bytes) yield Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
  })();
  let begun: Buffer = Buffer.alloc(0);
  return {
    async head(length) {
      while (begun.length < length) {
        const next = await pieces.next();
        if (next.done === true) break;
        begun = Buffer.concat([begun, next.value]);
      }
      return begun;
    },
    async *all() {
      try {
        if (begun.length > 0) yield begun;
        yield* pieces;
      } finally {
        await pieces.return(undefined);
      }
    },
  };
}
