import { writeInt16 } from '../../../voices/audio.ts';

/**
 * Allocates blocks of 16-bit samples that are kept and share buffers: a buffer for each block would cost as much as its
 * samples.
 */
export class Blocks {
  readonly #roomSamples: number;
  #room = new Int16Array(0);
  #filled = 0;

  /** `roomSamples`: number of samples in one buffer. */
  constructor(roomSamples: number) {
    this.#roomSamples = roomSamples;
  }

  /** Converts floats to 16 bits. */
  of(samples: Float32Array): Int16Array {
    if (this.#filled + samples.length > this.#room.length) {
      this.#room = new Int16Array(Math.max(this.#roomSamples, samples.length));
      this.#filled = 0;
    }
    const block = this.#room.subarray(this.#filled, this.#filled + samples.length);
    this.#filled += samples.length;
    writeInt16(samples, block, 0);
    return block;
  }
}

/**
 * Merges blocks that are adjacent in one buffer; never copies. Returns the same samples in as few blocks as possible.
 */
export function joined(blocks: readonly Int16Array[]): Int16Array[] {
  const all: Int16Array[] = [];
  for (const block of blocks) {
    const last = all.at(-1);
    const isNext = last?.buffer === block.buffer && last.byteOffset + last.byteLength === block.byteOffset;
    if (!isNext) all.push(block);
    else all[all.length - 1] = new Int16Array(block.buffer, last.byteOffset, last.length + block.length);
  }
  return all;
}
