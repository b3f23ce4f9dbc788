/**
 * Queue of events between producers and a single async iterator.
 *
 * @template Event
 * @implements {AsyncIterable<Event>}
 */
export class EventQueue {
  /** @type {Event[]} */
  #events = [];
  #hasEnded = false;
  /** @type {(() => void) | undefined} */
  #wake;

  /** @param {Event} event dropped after `end` */
  push(event) {
    if (this.#hasEnded) return;
    this.#events.push(event);
    this.#wake?.();
  }

  /** Ends the iteration once the queued events have been consumed. */
  end() {
    this.#hasEnded = true;
    this.#wake?.();
  }

  /** @returns {AsyncIterator<Event>} */
  async *[Symbol.asyncIterator]() {
    for (;;) {
      // Takes whole batches: shifting events one by one off the front of a long array is slow.
      const batch = this.#events;
      this.#events = [];
      yield* batch;
      if (this.#events.length > 0) continue;
      if (this.#hasEnded) return;
      await new Promise((/** @type {(value?: undefined) => void} */ resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
  }
}
