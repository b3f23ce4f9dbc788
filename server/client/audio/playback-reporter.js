import { WIRE_RATE } from './pcm.js';

/** Interval between two reports: 150 ms. */
const REPORT_SAMPLES = 0.15 * WIRE_RATE;

/** Reports the playback position of a response to the server: soon after it starts, every 150 ms, and when it stops. */
export class PlaybackReporter {
  #tell;
  #responseId = '';
  #told = 0;

  /**
   * @param {(responseId: string, samples: number, isFinal: boolean, isHeld?: boolean) => void} tell
   *   reports that are not final may be dropped
   */
  constructor(tell) {
    this.#tell = tell;
  }

  /**
   * @param {string} responseId
   * @param {number} samples played so far, at 24 kHz
   * @param {boolean} [isLast] true if it has been played to its end
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
   * Reports that playback was cut off.
   *
   * @param {string} responseId
   * @param {number} samples total samples played
   * @param {boolean} [isHeld] true if it is only on hold and may continue
   */
  stopped(responseId, samples, isHeld = false) {
    this.#tell(responseId, Math.round(samples), true, ...(isHeld ? [true] : []));
  }
}
