const ZERO_CROSSINGS = 16;
const KAISER_BETA = 8;
/** Fraction of the narrower band. Leaves room for the filter's slope below half the output rate. */
const CUTOFF = 0.92;

/**
 * Resamples a stream with a windowed-sinc low-pass filter. Exact (the position is kept in integers, so it never
 * drifts), with a latency of `ZERO_CROSSINGS` samples at the lower rate: 0.7 ms from 48 kHz to 24 kHz.
 */
export class Resampler {
  #filters;
  #up;
  #down;
  #half;
  #held;
  /** Position of the next output sample: index into the held samples, plus `#phase / #up`. */
  #index = 0;
  #phase = 0;

  /**
   * @param {number} fromRate
   * @param {number} toRate
   */
  constructor(fromRate, toRate) {
    const common = greatestCommonDivisor(fromRate, toRate);
    this.#up = toRate / common;
    this.#down = fromRate / common;
    this.#half = Math.ceil(ZERO_CROSSINGS * Math.max(1, fromRate / toRate));
    this.#filters = polyphase(this.#up, this.#half, CUTOFF * Math.min(1, toRate / fromRate));
    this.#held = new Float32Array(this.#half);
  }

  /**
   * @param {Float32Array} input the next samples
   * @returns {Float32Array} output samples that can be computed so far
   */
  push(input) {
    const held = new Float32Array(this.#held.length + input.length);
    held.set(this.#held);
    held.set(input, this.#held.length);
    const taps = 2 * this.#half;
    /** @type {number[]} */
    const output = [];
    while (this.#index + taps <= held.length) {
      const filter = /** @type {Float32Array} */ (this.#filters[this.#phase]);
      let sum = 0;
      for (let tap = 0; tap < taps; tap += 1) sum += (filter[tap] ?? 0) * (held[this.#index + tap] ?? 0);
      output.push(sum);
      this.#phase += this.#down;
      this.#index += Math.floor(this.#phase / this.#up);
      this.#phase %= this.#up;
    }
    const used = Math.min(this.#index, held.length);
    this.#held = held.slice(used);
    this.#index -= used;
    return Float32Array.from(output);
  }
}

/**
 * Returns one filter per fractional position `phase / up`, each with a gain of exactly one at 0 Hz.
 *
 * @param {number} up
 * @param {number} half taps on each side
 * @param {number} cutoff as a fraction of half the input rate
 * @returns {Float32Array[]}
 */
function polyphase(up, half, cutoff) {
  return Array.from({ length: up }, (_, phase) => {
    const filter = Float32Array.from({ length: 2 * half }, (_, tap) => {
      const at = tap - half - phase / up;
      const angle = Math.PI * cutoff * at;
      return (angle === 0 ? 1 : Math.sin(angle) / angle) * kaiser(at / half);
    });
    const gain = filter.reduce((sum, value) => sum + value, 0);
    return filter.map((value) => value / gain);
  });
}

/**
 * The Kaiser window.
 *
 * @param {number} at from -1 to 1
 */
function kaiser(at) {
  return Math.abs(at) > 1 ? 0 : bessel(KAISER_BETA * Math.sqrt(1 - at * at)) / bessel(KAISER_BETA);
}

/**
 * The modified Bessel function of the first kind and order zero.
 *
 * @param {number} x
 */
function bessel(x) {
  let term = 1;
  let sum = 1;
  for (let k = 1; term > sum * 1e-9; k += 1) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}

/**
 * @param {number} a
 * @param {number} b
 * @returns {number}
 */
function greatestCommonDivisor(a, b) {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
