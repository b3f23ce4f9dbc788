/** Runs actions in the order they were queued, even if some wait for a promise. */
export class OrderedQueue {
  /** End of the queue, if anything is waiting. @type {Promise<void> | undefined} */
  #last;

  /**
   * Runs `act` at once, or after everything queued.
   *
   * @param {() => void} act
   */
  do(act) {
    if (this.#last === undefined) act();
    else this.after(Promise.resolve(), act);
  }

  /**
   * Runs `act` once `needed` has resolved; skips it if `needed` rejects.
   *
   * @template Needed
   * @param {Promise<Needed>} needed
   * @param {(needed: Needed) => void} act
   */
  after(needed, act) {
    const before = this.#last;
    const last = this.#run(before, needed, act);
    this.#last = last;
    void last.then(() => {
      if (this.#last === last) this.#last = undefined;
    });
  }

  /**
   * @template Needed
   * @param {Promise<void> | undefined} before
   * @param {Promise<Needed>} needed
   * @param {(needed: Needed) => void} act
   */
  async #run(before, needed, act) {
    const [outcome] = await Promise.allSettled([needed, before]);
    if (outcome.status === 'rejected') return;
    try {
      act(outcome.value);
    } catch (fault) {
      // Rethrow as an uncaught error, as in a synchronous call, without blocking the queue.
      queueMicrotask(() => {
        throw fault;
      });
    }
  }
}
