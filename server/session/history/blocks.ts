import { writeInt16 } from '../../../voices/audio.ts';

/** Makes blocks of 16-bit samples, to be kept, that share buffers: a buffer each would cost as much as what is in them. */
export class Blocks {
  readonly #roomSamples: number;
  #room = new Int16Array(0);
  #filled = 0;

  /** `roomSamples`: how many samples go into one buffer. */
  constructor(roomSamples: number) {
    this.#roomSamples = roomSamples;
  }

  /** Floats in 16 bits. */
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

/** The same samples in as few blocks as can be without copying: those that lie side by side in one buffer become one. */
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
