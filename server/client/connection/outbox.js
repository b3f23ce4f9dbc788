/** Events that are kept besides sound. Nobody types more than this while away. */
const MOST_EVENTS = 1_000;

/**
 * A frame of the client, numbered, until the server has it.
 *
 * @typedef {object} Kept
 * @property {number} sequence
 * @property {number} audioMs of sound in it; 0: an event
 * @property {string | Uint8Array<ArrayBuffer>} data
 */

/**
 * The row of the client's frames: numbers them from 1, and keeps them until the server is known to have them. Of sound,
 * only the last `keptAudioMs` are kept; what had to go and never arrived is counted as lost.
 */
export class Outbox {
  #keptAudioMs;
  /** @type {Kept[]} */
  #kept = [];
  #sequence = 0;
  #handed = 0;
  #audioMs = 0;
  /** Sound that was handed to a connection and then given up, before it was known to have arrived. @type {Kept[]} */
  #doubtful = [];
  #lostMs = 0;

  /** @param {number} keptAudioMs */
  constructor(keptAudioMs) {
    this.#keptAudioMs = keptAudioMs;
  }

  /** Number of the last frame. */
  get sequence() {
    return this.#sequence;
  }

  /**
   * Adds a frame.
   *
   * @param {number} audioMs of sound in it; 0: an event
   * @param {(sequence: number) => string | Uint8Array<ArrayBuffer>} write
   */
  add(audioMs, write) {
    this.#sequence += 1;
    this.#kept.push({ sequence: this.#sequence, audioMs, data: write(this.#sequence) });
    this.#audioMs += audioMs;
    if (this.#audioMs > this.#keptAudioMs) this.#giveUp((frame) => frame.audioMs > 0);
    else if (audioMs === 0 && this.#kept.filter((frame) => frame.audioMs === 0).length > MOST_EVENTS) {
      this.#giveUp((frame) => frame.audioMs === 0);
    }
  }

  /** Hands out the next frame that no connection has had, if there is one. */
  next() {
    // Frames are in order, and nearly always the last is the one: look from the end.
    let index = this.#kept.length;
    while (index > 0 && (this.#kept[index - 1]?.sequence ?? 0) > this.#handed) index -= 1;
    const frame = this.#kept[index];
    if (frame === undefined) return undefined;
    this.#handed = frame.sequence;
    return frame.data;
  }

  /** @param {number} sequence the server has every frame up to this one, or has heard that it is lost */
  acknowledge(sequence) {
    this.#kept = this.#kept.filter((frame) => {
      if (frame.sequence > sequence) return true;
      this.#audioMs -= frame.audioMs;
      return false;
    });
    this.#doubtful = this.#doubtful.filter((frame) => frame.sequence > sequence);
  }

  /**
   * Another connection goes on: what comes after `received` is to be handed out again.
   *
   * @param {number} received the last frame the server has taken
   * @returns {number} milliseconds of sound that are lost
   */
  resume(received) {
    this.acknowledge(received);
    this.#handed = received;
    return this.#takeLost();
  }

  /**
   * Another server process goes on. Nobody knows what the one before had taken: what was handed out is not sent again,
   * lest it be said twice.
   *
   * @returns {number} milliseconds of sound that may be lost
   */
  restart() {
    for (const frame of this.#kept) if (frame.sequence <= this.#handed) this.#doubtful.push(frame);
    const lostMs = this.#takeLost();
    this.acknowledge(this.#handed);
    return lostMs;
  }

  /**
   * A new session begins, and with it a new row.
   *
   * @returns {number} milliseconds of sound that did not reach the session before, as far as is known
   */
  reset() {
    this.#doubtful.push(...this.#kept);
    const lostMs = this.#takeLost();
    this.#kept = [];
    this.#audioMs = 0;
    this.#sequence = 0;
    this.#handed = 0;
    return lostMs;
  }

  #takeLost() {
    const lostMs = this.#doubtful.reduce((sum, { audioMs }) => sum + audioMs, this.#lostMs);
    this.#doubtful = [];
    this.#lostMs = 0;
    return lostMs;
  }

  /** @param {(frame: Kept) => boolean} isOfKind the oldest of which goes */
  #giveUp(isOfKind) {
    const index = this.#kept.findIndex(isOfKind);
    const [frame] = this.#kept.splice(index, 1);
    if (frame === undefined) return;
    this.#audioMs -= frame.audioMs;
    if (frame.sequence > this.#handed) this.#lostMs += frame.audioMs;
    else this.#doubtful.push(frame);
  }
}
