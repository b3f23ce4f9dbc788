/** @import { Viseme } from '../types/api.d.ts' */

/**
 * The shape of the mouth at a sample; the weight is from 0 to 1.
 *
 * @typedef {{ viseme: Viseme, weight: number }} MouthShape
 */

/** Length of the crossfade, which ends as the next shape begins to sound: lips lead by half of it. 60 ms. */
const FADE_SAMPLES = 1_440;

/** The shapes of one reply by sample, from `x_dramatis.visemes`. Times are samples at 24 kHz of the item. */
export class MouthTimeline {
  /** Ascending; a shape holds until the next. `undefined`: only the loudness is known. */
  /** @type {{ from: number, shape: MouthShape | undefined }[]} */
  #shapes = [];
  /** First sample without known shapes. */
  #until = 0;

  /** @param {{ from: number, until?: number | undefined, visemes: readonly (readonly [number, Viseme, number?])[] }} told */
  tell({ from, until, visemes }) {
    this.#dropFrom(from);
    for (const [at, viseme, weight = 1] of visemes) this.#shapes.push({ from: at, shape: { viseme, weight } });
    if (visemes.length === 0) this.#shapes.push({ from, shape: undefined });
    this.#until = until ?? Infinity;
  }

  /**
   * The reply continues after a hold: it says again the last `later` samples before `at`, and what follows comes later.
   *
   * @param {number} at samples received so far
   * @param {number} later
   */
  resume(at, later) {
    if (later <= 0) return;
    const again = { from: at, shape: this.#entryAt(at - later)?.shape };
    const moved = this.#shapes.filter(({ from }) => from > at - later);
    this.#dropFrom(at);
    this.#shapes.push(again, ...moved.map(({ from, shape }) => ({ from: from + later, shape })));
    this.#until += later;
  }

  /**
   * Nothing after this sample is heard: the mouth closes.
   *
   * @param {number} at
   */
  cut(at) {
    this.#dropFrom(at);
    this.#shapes.push({ from: at, shape: { viseme: 'sil', weight: 1 } });
    this.#until = Infinity;
  }

  /**
   * Returns the shape that sounds at a sample; undefined if only the loudness is known. Closed before the first sample,
   * and after the last.
   *
   * @param {number} sample
   * @returns {MouthShape | undefined}
   */
  visemeAt(sample) {
    if (sample >= this.#until) return { viseme: 'sil', weight: 1 };
    const entry = this.#entryAt(sample);
    return entry === undefined ? { viseme: 'sil', weight: 1 } : entry.shape;
  }

  /**
   * Returns the weights of the shapes to draw: each fades into the next, 30 ms early on average. Lips that close are
   * closed when the sound begins, and stay so until it ends. Undefined if only the loudness is known.
   *
   * @param {number} sample
   * @returns {Partial<Record<Viseme, number>> | undefined}
   */
  weightsAt(sample) {
    const now = this.visemeAt(sample);
    const next = this.#shapes.find(({ from }) => from > sample);
    const end = Math.min(next?.from ?? Infinity, this.#until);
    const following = end === this.#until ? { viseme: /** @type {const} */ ('sil'), weight: 1 } : next?.shape;
    if (now === undefined) return undefined;
    if (following === undefined || end === Infinity) return { [now.viseme]: now.weight };
    const fade = Math.min(FADE_SAMPLES, end - (this.#entryAt(sample)?.from ?? 0));
    const isOpening = now.viseme === 'PP' && following.viseme !== 'PP';
    const share = isOpening ? 0 : Math.max(0, 1 - (end - sample) / fade);
    /** @type {Partial<Record<Viseme, number>>} */
    const weights = { [now.viseme]: now.weight * (1 - share) };
    weights[following.viseme] = (weights[following.viseme] ?? 0) + following.weight * share;
    return weights;
  }

  /** @param {number} sample */
  #entryAt(sample) {
    let low = 0;
    let high = this.#shapes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#shapes[middle]?.from ?? 0) <= sample) low = middle + 1;
      else high = middle;
    }
    return this.#shapes[low - 1];
  }

  /** @param {number} sample */
  #dropFrom(sample) {
    while ((this.#shapes.at(-1)?.from ?? -1) >= sample) this.#shapes.pop();
  }
}
