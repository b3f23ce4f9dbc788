import { writeInt16 } from '../../voices/audio.ts';

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

/** All blocks as one, in a buffer of its own. */
export function joined(blocks: readonly Int16Array[]): Int16Array[] {
  if (blocks.length === 0) return [];
  const all = new Int16Array(blocks.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  for (const block of blocks) {
    all.set(block, offset);
    offset += block.length;
  }
  return [all];
}
