import { WIRE_RATE } from './pcm.js';

/** Between two reports: 150 ms. */
const REPORT_SAMPLES = 0.15 * WIRE_RATE;

/** Tells the server how much of a response has been played: soon after it began, every 150 ms, and when it stops. */
export class HeardCursor {
  #tell;
  #responseId = '';
  #told = 0;

  /**
   * @param {(responseId: string, samples: number, isFinal: boolean, isHeld?: boolean) => void} tell what is not final may
   *   be forgotten on the way
   */
  constructor(tell) {
    this.#tell = tell;
  }

  /**
   * @param {string} responseId
   * @param {number} samples played so far, at 24 kHz
   * @param {boolean} [isLast] it has been played to its end
   */
  played(responseId, samples, isLast = false) {
    if (responseId !== this.#responseId) {
      this.#responseId = responseId;
      this.#told = -Infinity;
    }
    if (samples <= 0 || (samples - this.#told < REPORT_SAMPLES && !isLast)) return;
    this.#told = samples;
    this.#tell(responseId, Math.round(samples), isLast);
  }

  /**
   * It was cut off: nothing more of it will be played.
   *
   * @param {string} responseId
   * @param {number} samples played in all
   * @param {boolean} [isHeld] it may go on
   */
  stopped(responseId, samples, isHeld = false) {
    this.#tell(responseId, Math.round(samples), true, ...(isHeld ? [true] : []));
  }
}
