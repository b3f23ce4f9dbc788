import { endianness } from 'node:os';
import { EngineError } from './engine.ts';

const isLittleEndian = endianness() === 'LE';

/** Mono PCM in [-1, 1]. `atMs` is audio time: the duration of all samples before the first, never wall-clock time. */
export interface AudioFrame {
  readonly samples: Float32Array;
  readonly sampleRate: number;
  readonly atMs: number;
  /** VAD decision for this frame; absent if no VAD has processed it. */
  readonly voiced?: boolean;
}

/** Length of a frame in milliseconds. */
export function durationMs(frame: AudioFrame): number {
  return (frame.samples.length / frame.sampleRate) * 1000;
}

/** Little-endian 16-bit PCM to floats in [-1, 1), without an odd last byte; in a subarray of `into` if it fits. */
export function floatsFromPcm16(bytes: Uint8Array, into?: Float32Array): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = bytes.byteLength >> 1;
  const samples = into === undefined || into.length < length ? new Float32Array(length) : into.subarray(0, length);
  for (let index = 0; index < samples.length; index += 1) samples[index] = view.getInt16(index * 2, true) / 32768;
  return samples;
}

/** Floats to little-endian 16-bit PCM, clipped, NaN as silence; in a subarray of `into` (even offset) if it fits. */
export function pcm16FromFloats(samples: Float32Array, into?: Buffer): Buffer {
  const length = samples.length * 2;
  const bytes = into === undefined || into.length < length ? Buffer.allocUnsafe(length) : into.subarray(0, length);
  // Buffers from Node's pool start at multiples of eight bytes.
  writeInt16(samples, new Int16Array(bytes.buffer, bytes.byteOffset, samples.length), 0);
  return isLittleEndian ? bytes : bytes.swap16();
}

/** Floats as 16-bit integers: half the memory, for audio that is kept. Clips like `pcm16FromFloats`. */
export function int16FromFloats(samples: Float32Array): Int16Array {
  const integers = new Int16Array(samples.length);
  writeInt16(samples, integers, 0);
  return integers;
}

/** Like `int16FromFloats`, but writes into `integers` starting at `offset`. */
export function writeInt16(samples: Float32Array, integers: Int16Array, offset: number): void {
  for (let index = 0; index < samples.length; index += 1) {
    // Assigning NaN to an integer array stores 0.
    integers[offset + index] = Math.max(-32768, Math.min(32767, Math.round((samples[index] as number) * 32768)));
  }
}

/** 16-bit integers to floats in [-1, 1). */
export function floatsFromInt16(samples: Int16Array): Float32Array {
  const floats = new Float32Array(samples.length);
  for (let index = 0; index < samples.length; index += 1) floats[index] = (samples[index] as number) / 32768;
  return floats;
}

/** Joins blocks of samples into one. */
export function concatSamples(blocks: readonly Float32Array[]): Float32Array {
  const joined = new Float32Array(blocks.reduce((sum, block) => sum + block.length, 0));
  let offset = 0;
  for (const block of blocks) {
    joined.set(block, offset);
    offset += block.length;
  }
  return joined;
}

/** Cuts a stream of blocks into windows of exactly `windowSamples`; the remainder waits for the next push. */
export class Rechunker {
  readonly #windowSamples: number;
  /** The window being filled, and how many of its samples are set. */
  #window: Float32Array;
  #filled = 0;

  constructor(windowSamples: number) {
    this.#windowSamples = windowSamples;
    this.#window = new Float32Array(windowSamples);
  }

  /** Takes a block of any length and returns the windows it completes, oldest first. */
  push(block: Float32Array): Float32Array[] {
    const windows: Float32Array[] = [];
    for (let offset = 0; offset < block.length;) {
      const end = Math.min(block.length, offset + this.#windowSamples - this.#filled);
      this.#window.set(block.subarray(offset, end), this.#filled);
      this.#filled += end - offset;
      offset = end;
      if (this.#filled < this.#windowSamples) break;
      windows.push(this.#window);
      this.#window = new Float32Array(this.#windowSamples);
      this.#filled = 0;
    }
    return windows;
  }

  /** Returns the samples that do not fill a whole window, and discards them. */
  flush(): Float32Array {
    const rest = this.#window.slice(0, this.#filled);
    this.#filled = 0;
    return rest;
  }
}

/** Throws `ENGINE_REFUSED` if a frame has another rate than the recognizer `name` takes. */
export function checkRate({ sampleRate }: AudioFrame, wanted: number, name: string): void {
  if (sampleRate === wanted) return;
  throw new EngineError(
    name,
    'ENGINE_REFUSED',
    `frames must have a sample rate of ${wanted} Hz, not ${sampleRate}: resample them`,
  );
}
