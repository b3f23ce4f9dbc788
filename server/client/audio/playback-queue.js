import { JitterBuffer } from './jitter-buffer.js';

/** Samples to rebuffer after an underrun within an item: one gap instead of many. */
const REFILL_SAMPLES = 1_440;
/** About -50 dBFS. Quieter samples do not count as the onset of a reply. */
const AUDIBLE = 0.003;

/**
 * One item of a reply, queued for playback.
 *
 * @typedef {object} QueuedItem
 * @property {string} itemId
 * @property {Float32Array[]} blocks not yet played; the first may be partly played
 * @property {number} queued samples not yet played
 * @property {number} played samples played
 * @property {number} firstAt arrival of its first sample, on the queue's clock
 * @property {number} sentLate samples by which the sender was behind real time
 * @property {boolean} complete no more samples will follow
 * @property {boolean} sounded something audible has been played
 */

/**
 * Outcome of rendering one block.
 *
 * @typedef {object} Rendered
 * @property {QueuedItem | undefined} item the item that is playing
 * @property {{ itemId: string, offset: number }[]} onsets items whose first audible sample is in
 *   this block, and its offset
 * @property {string[]} ended items whose last sample has been played
 */

/**
 * Plays items one after the other and counts, to the sample, how much of each has been played. Its clock is the number
 * of samples rendered, silence included. The start of each item is delayed by the jitter buffer.
 */
export class PlaybackQueue {
  /** @type {JitterBuffer} */
  #jitter;
  /** @type {QueuedItem[]} */
  #items = [];
  /** Samples rendered. @type {number} */
  #now;
  #isRefilling = false;

  /**
   * @param {PlaybackQueue} [before] the queue that this one replaces; its jitter buffer and clock
   *   are kept
   */
  constructor(before) {
    this.#jitter = before === undefined ? new JitterBuffer() : before.#jitter;
    this.#now = before === undefined ? 0 : before.#now;
  }

  /**
   * @param {string} itemId
   * @param {Float32Array} samples
   * @param {number} [sentLate] samples by which the sender itself is behind real time with this
   *   item
   */
  push(itemId, samples, sentLate = 0) {
    const item = this.#find(itemId);
    const received = item.played + item.queued;
    if (received === 0) {
      item.firstAt = this.#now;
      this.#jitter.begin();
    }
    // Delay by a slow LLM or TTS engine is not jitter: buffering for it would delay every reply. A chunk that the
    // sender held up is not measured, and later ones are measured against the sender's new schedule.
    if (sentLate > item.sentLate) item.sentLate = sentLate;
    else this.#jitter.note(this.#now - item.firstAt - received - item.sentLate, samples.length);
    item.blocks.push(samples);
    item.queued += samples.length;
  }

  /**
   * Marks an item as complete: no more samples will follow.
   *
   * @param {string} itemId
   */
  complete(itemId) {
    this.#find(itemId).complete = true;
  }

  /**
   * Fades out over `output`. The queue cannot be used afterwards.
   *
   * @param {Float32Array} output
   * @returns {ReadonlyMap<string, number>} samples played of each item that had not ended
   */
  flush(output) {
    const { ended } = this.render(output);
    for (const index of output.keys()) output[index] = (output[index] ?? 0) * (1 - index / output.length);
    const played = new Map(this.#items.map((item) => [item.itemId, item.played]));
    // An item that ends within the fade was heard to its end, but the page still counts it as open.
    for (const itemId of ended) played.set(itemId, Infinity);
    this.#items = [];
    return played;
  }

  /**
   * Fills `output`, with silence if there is nothing to play.
   *
   * @param {Float32Array} output
   * @returns {Rendered}
   */
  render(output) {
    /** @type {Rendered} */
    const rendered = { item: undefined, onsets: [], ended: [] };
    output.fill(0);
    const now = this.#now;
    this.#now += output.length;
    for (let filled = 0, item = this.#items[0]; item !== undefined; item = this.#items[0]) {
      rendered.item = item;
      if (this.#mustWait(item, now + filled)) return rendered;
      this.#isRefilling = false;
      const count = take(item, output.subarray(filled));
      if (!item.sounded) this.#listen(item, output.subarray(filled, filled + count), filled, rendered);
      filled += count;
      if (item.queued > 0) return rendered;
      if (!item.complete) {
        this.#isRefilling = item.played > 0;
        return rendered;
      }
      rendered.ended.push(item.itemId);
      this.#items.shift();
    }
    return rendered;
  }

  /**
   * Returns true if an item that has not started, or has underrun, has to wait for more samples.
   *
   * @param {QueuedItem} item
   * @param {number} at on the queue's clock
   */
  #mustWait(item, at) {
    if (item.complete || (item.played > 0 && !this.#isRefilling)) return false;
    if (this.#isRefilling && item.queued < REFILL_SAMPLES) return true;
    return at < item.firstAt + item.played + this.#jitter.delaySamples;
  }

  /**
   * @param {QueuedItem} item
   * @param {Float32Array} played
   * @param {number} offset of these samples in the block
   * @param {Rendered} rendered
   */
  #listen(item, played, offset, rendered) {
    const first = played.findIndex((sample) => Math.abs(sample) >= AUDIBLE);
    if (first === -1) return;
    item.sounded = true;
    rendered.onsets.push({ itemId: item.itemId, offset: offset + first });
  }

  /** @param {string} itemId */
  #find(itemId) {
    const known = this.#items.find((item) => item.itemId === itemId);
    if (known !== undefined) return known;
    /** @type {QueuedItem} */
    const item = {
      itemId,
      blocks: [],
      queued: 0,
      played: 0,
      firstAt: this.#now,
      sentLate: 0,
      complete: false,
      sounded: false,
    };
    this.#items.push(item);
    return item;
  }
}

/**
 * Moves as many samples as fit from an item to `output`.
 *
 * @param {QueuedItem} item
 * @param {Float32Array} output
 * @returns {number} samples moved
 */
function take(item, output) {
  let filled = 0;
  while (filled < output.length) {
    const block = item.blocks[0];
    if (block === undefined) break;
    const part = block.subarray(0, output.length - filled);
    output.set(part, filled);
    filled += part.length;
    if (part.length === block.length) item.blocks.shift();
    else item.blocks[0] = block.subarray(part.length);
  }
  item.queued -= filled;
  item.played += filled;
  return filled;
}
