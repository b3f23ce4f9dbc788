const UNHEARD_MS = 15_000;
/** Limit once the user has been heard: they may just be thinking. */
const PAUSE_MS = 60_000;
const FLAT_MS = 5_000;

/** Detects that an open microphone delivers no speech. Measures audio time. */
export class SilenceWatch {
  #quietMs = 0;
  #flatMs = 0;
  #hasHeard = false;

  /**
   * @param {number} durationMs of a chunk while the page was listening
   * @param {number} peak 0 to 1
   * @returns {'flat' | 'unheard' | undefined} `flat`: the device delivers digital silence; returned
   *   once per silence
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

  /** Notes that speech was heard. */
  heard() {
    this.#hasHeard = true;
    this.rest();
  }

  /** Restarts the measurement: the user is not expected to speak now. */
  rest() {
    this.#quietMs = 0;
    this.#flatMs = 0;
  }
}
