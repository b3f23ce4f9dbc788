import { platformClock } from './clock.js';

/** @import { TalkClock } from '../types/api.d.ts' */

const BEAT_MS = 2_000;
const PATIENCE_MS = 6_000;

/**
 * Notices that the other side is gone although the socket does not know it: asks every two seconds for an answer, and
 * gives up when there has been none for six. A page that slept asks again first.
 */
export class Heartbeat {
  #options;
  #clock;
  /** Calls off the next beat. */
  #rest = () => {};
  /** Beats that wait for an answer. */
  #unanswered = 0;
  /** Some servers do not answer; then silence means nothing. */
  #answers = false;

  /**
   * @param {object} options
   * @param {() => void} options.onBeat asks
   * @param {() => void} options.onSilence
   * @param {TalkClock} [clock]
   */
  constructor(options, clock = platformClock) {
    this.#options = options;
    this.#clock = clock;
  }

  start() {
    this.stop();
    this.#beat();
  }

  stop() {
    this.#rest();
    this.#unanswered = 0;
  }

  /** Something came from the other side. */
  heard() {
    this.#unanswered = 0;
  }

  /** What came was an answer. */
  answered() {
    this.#answers = true;
    this.heard();
  }

  #beat() {
    if (this.#answers && this.#unanswered * BEAT_MS >= PATIENCE_MS) {
      this.stop();
      this.#options.onSilence();
      return;
    }
    this.#rest = this.#clock.after(BEAT_MS, () => this.#beat());
    this.#unanswered += 1;
    this.#options.onBeat();
  }
}
