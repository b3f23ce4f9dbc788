import { platformClock } from './clock.js';

/** @import { TalkClock } from '../types/api.d.ts' */

const BEAT_MS = 2_000;
const PATIENCE_MS = 6_000;

/**
 * Detects a dead peer that the socket has not noticed: pings every two seconds and gives up after six without an
 * answer. Counts unanswered pings, not time, so a page that slept pings again first.
 */
export class Heartbeat {
  #options;
  #clock;
  /** Cancels the next beat. */
  #rest = () => {};
  /** Number of beats without an answer so far. */
  #unanswered = 0;
  /** True once the server has answered. Some servers never do; their silence means nothing. */
  #answers = false;

  /**
   * @param {object} options
   * @param {() => void} options.onBeat sends the ping
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

  /** Resets the count: any frame from the peer proves that it is alive. */
  heard() {
    this.#unanswered = 0;
  }

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
