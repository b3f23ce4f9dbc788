const FIRST_MS = 500;
const MOST_MS = 8_000;
/** Jitter as a fraction of each wait, so that the clients of a restarted server do not all reconnect at once. */
const CHANCE = 0.3;

/** Exponential back-off: no wait after a sudden loss, then 0.5 s, doubling up to 8 s. */
export class BackOff {
  #random;
  #attempts = 0;
  #waitMs = FIRST_MS;

  /** @param {() => number} [random] in [0, 1) */
  constructor(random = Math.random) {
    this.#random = random;
  }

  /** Number of attempts since the last success. */
  get attempts() {
    return this.#attempts;
  }

  /**
   * @param {boolean} isSudden a working connection broke; an immediate retry will probably succeed
   * @returns {number} milliseconds to wait before the next attempt
   */
  next(isSudden) {
    this.#attempts += 1;
    if (isSudden && this.#attempts === 1) return 0;
    const waitMs = this.#waitMs;
    this.#waitMs = Math.min(MOST_MS, waitMs * 2);
    return Math.round(waitMs * (1 - CHANCE * this.#random()));
  }

  /** Starts over after a successful attempt. */
  reset() {
    this.#attempts = 0;
    this.#waitMs = FIRST_MS;
  }
}
