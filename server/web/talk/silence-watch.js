const UNHEARD_MS = 15_000;
/** Somebody who has been heard before may well be thinking. */
const PAUSE_MS = 60_000;
const FLAT_MS = 5_000;

/** Notices that an open microphone brings nothing. Counts audio time. */
export class SilenceWatch {
  #quietMs = 0;
  #flatMs = 0;
  #hasHeard = false;

  /**
   * @param {number} durationMs of a chunk while the page was listening
   * @param {number} peak 0 to 1
   * @returns {'flat' | 'unheard' | undefined} `flat`: the device delivers digital silence; said once per silence
   */
  chunk(durationMs, peak) {
    const quietMs = this.#quietMs;
    const flatMs = this.#flatMs;
    this.#quietMs += durationMs;
    this.#flatMs = peak === 0 ? flatMs + durationMs : 0;
    if (!this.#hasHeard && flatMs < FLAT_MS && this.#flatMs >= FLAT_MS) return 'flat';
    const limitMs = this.#hasHeard ? PAUSE_MS : UNHEARD_MS;
    return quietMs < limitMs && this.#quietMs >= limitMs ? 'unheard' : undefined;
  }

  /** Speech was heard. */
  heard() {
    this.#hasHeard = true;
    this.rest();
  }

  /** Nobody is expected to speak just now. */
  rest() {
    this.#quietMs = 0;
    this.#flatMs = 0;
  }
}
