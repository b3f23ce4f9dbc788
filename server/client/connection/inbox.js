/** The row of the server's frames: each is to be taken once, in order. */
export class Inbox {
  #last = 0;
  /** The next number may be any: the server was restarted, and left some out. */
  #mayJump = false;

  /** Number of the last frame that was taken. */
  get last() {
    return this.#last;
  }

  /**
   * @param {number | undefined} sequence of a frame that came; undefined where the server does not number
   * @returns {'new' | 'repeated' | 'gap'} `gap`: frames before it are missing, and it was not taken
   */
  take(sequence) {
    if (sequence === undefined) return 'new';
    if (sequence <= this.#last) return 'repeated';
    if (sequence > this.#last + 1 && !this.#mayJump) return 'gap';
    this.#last = sequence;
    this.#mayJump = false;
    return 'new';
  }

  /** Another server process goes on with the session: it begins at a number that was surely not used. */
  restart() {
    this.#mayJump = true;
  }

  /** A new session begins. */
  reset() {
    this.#last = 0;
    this.#mayJump = false;
  }
}
