/** Does things in the order in which they are asked for, though some have to wait for what they need. */
export class InOrder {
  /** The last that waits, or waits for one that does. @type {Promise<void> | undefined} */
  #last;

  /**
   * Does it at once, or behind all that waits.
   *
   * @param {() => void} act
   */
  do(act) {
    if (this.#last === undefined) act();
    else this.after(Promise.resolve(), act);
  }

  /**
   * Does it when `needed` is there. Where that fails, it is left out.
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
      // As loud as it would have been at once, and no obstacle to what comes behind.
      queueMicrotask(() => {
        throw fault;
      });
    }
  }
}
