/** 20 ms at 24 kHz: what one packet holds. */
export const OPUS_FRAME_SAMPLES = 480;
/** In speech, nothing is heard of the coding from here on. */
export const OPUS_BITS_PER_SECOND = 40_000;

/**
 * What an encoder is given for one packet, and where in the sound that a decoder makes of it the sound lies.
 *
 * @typedef {object} OpusFrame
 * @property {Float32Array<ArrayBuffer>} samples
 * @property {number} skipSamples
 * @property {number} takeSamples
 */

/**
 * Cuts sound into what an Opus encoder takes, and counts: of what a decoder makes of the packets, the parts to be taken,
 * one after the other, are as long as the sound was, to the sample. The encoder's delay and the silence that fills the
 * last frame are left out.
 */
export class OpusFrames {
  #delaySamples;
  #held = new Float32Array(OPUS_FRAME_SAMPLES);
  #heldSamples = 0;
  /** Of what a decoder makes, so much is still to be left out before the sound begins. */
  #skipSamples;
  /** Sound that came in and that no packet's part holds yet. */
  #owedSamples = 0;

  /** @param {number} delaySamples by which what a decoder gives lags behind what the encoder was given */
  constructor(delaySamples) {
    this.#delaySamples = delaySamples;
    this.#skipSamples = delaySamples;
  }

  /**
   * Takes a piece of sound, however long.
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

  /** What it takes to bring out all sound that came in. More may follow. */
  flush() {
    const frames = [];
    while (this.#owedSamples > 0) frames.push(this.#cut());
    // What is in the encoder now is silence that nobody asked for.
    this.#skipSamples = this.#delaySamples;
    return frames;
  }

  /** @returns {OpusFrame} what is held, filled up with silence */
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
