/** Checks the sequence numbers of server frames: each is accepted once, in order. */
export class Inbox {
  #last = 0;
  /** True if the next number may be any: the server was restarted and skipped some. */
  #mayJump = false;

  /** Sequence number of the last accepted frame. */
  get last() {
    return this.#last;
  }

  /**
   * @param {number | undefined} sequence of the received frame; undefined if the server does not
   *   number frames
   * @returns {'new' | 'repeated' | 'gap'} `gap`: frames before it are missing, and it was not
   *   accepted
   */
  take(sequence) {
    if (sequence === undefined) return 'new';
    if (sequence <= this.#last) return 'repeated';
    if (sequence > this.#last + 1 && !this.#mayJump) return 'gap';
    this.#last = sequence;
    this.#mayJump = false;
    return 'new';
  }

  /** Continues with another server process, which starts at a sequence number that is safely unused. */
  restart() {
    this.#mayJump = true;
  }

  /**
   * Continues after what another page has received.
   *
   * @param {number} last
   */
  adopt(last) {
    this.#last = last;
  }

  /** Starts over for a new session. */
  reset() {
    this.#last = 0;
    this.#mayJump = false;
  }
}
