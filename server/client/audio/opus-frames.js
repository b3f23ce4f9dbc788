/** Samples per packet: 20 ms at 24 kHz. */
export const OPUS_FRAME_SAMPLES = 480;
/** Bit rate from which coded speech is indistinguishable from the original. */
export const OPUS_BITS_PER_SECOND = 40_000;

/**
 * Encoder input for one packet, and which of the decoded samples to use.
 *
 * @typedef {object} OpusFrame
 * @property {Float32Array<ArrayBuffer>} samples
 * @property {number} skipSamples
 * @property {number} takeSamples
 */

/**
 * Splits audio into frames for an Opus encoder and says which decoded samples to use, so that together they are exactly
 * as long as the input: the encoder's delay and the padding of the last frame are skipped.
 */
export class OpusFrames {
  #delaySamples;
  #held = new Float32Array(OPUS_FRAME_SAMPLES);
  #heldSamples = 0;
  /** Decoded samples still to be skipped before the audio starts. */
  #skipSamples;
  /** Input samples that no frame's `takeSamples` covers yet. */
  #owedSamples = 0;

  /** @param {number} delaySamples codec delay: how far decoded audio lags behind the input */
  constructor(delaySamples) {
    this.#delaySamples = delaySamples;
    this.#skipSamples = delaySamples;
  }

  /**
   * Adds samples, any number; returns the frames that are complete.
   *
   * @param {Float32Array} samples
   * @returns {OpusFrame[]}
   */
  push(samples) {
    this.#owedSamples += samples.length;
    const frames = [];
    for (let from = 0; from < samples.length;) {
      const part = samples.subarray(from, from + OPUS_FRAME_SAMPLES - this.#heldSamples);
      this.#held.set(part, this.#heldSamples);
      this.#heldSamples += part.length;
      from += part.length;
      if (this.#heldSamples === OPUS_FRAME_SAMPLES) frames.push(this.#cut());
    }
    return frames;
  }

  /** Returns the frames needed to get all input out of the codec, padded with silence. More input may follow. */
  flush() {
    const frames = [];
    while (this.#owedSamples > 0) frames.push(this.#cut());
    // The encoder now holds padding, which must be skipped.
    this.#skipSamples = this.#delaySamples;
    return frames;
  }

  /** @returns {OpusFrame} the held samples, padded with silence */
  #cut() {
    const skipSamples = Math.min(this.#skipSamples, OPUS_FRAME_SAMPLES);
    const takeSamples = Math.min(OPUS_FRAME_SAMPLES - skipSamples, this.#owedSamples);
    this.#skipSamples -= skipSamples;
    this.#owedSamples -= takeSamples;
    const samples = this.#held;
    this.#held = new Float32Array(OPUS_FRAME_SAMPLES);
    this.#heldSamples = 0;
    return { samples, skipSamples, takeSamples };
  }
}
