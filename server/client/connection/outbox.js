/** Cap on buffered events other than audio; more than a user types during an outage. */
const MOST_EVENTS = 1_000;

/**
 * A numbered client frame that the server may need again.
 *
 * @typedef {object} Kept
 * @property {number} sequence
 * @property {number} audioMs audio in the frame; 0: an event
 * @property {string | Uint8Array<ArrayBuffer>} data
 */

/**
 * Send buffer of the client: numbers frames from 1 and keeps them until the server has kept what came of them. Of audio,
 * only the last `keptAudioMs` are kept; what was dropped without having arrived is counted as lost.
 */
export class Outbox {
  #keptAudioMs;
  /** @type {Kept[]} */
  #kept = [];
  #sequence = 0;
  #handed = 0;
  /** The last frame that the server has processed. */
  #received = 0;
  #audioMs = 0;
  /**
   * Audio that was sent and then dropped from the buffer before the server had kept it.
   *
   * @type {Kept[]}
   */
  #doubtful = [];
  #lostMs = 0;

  /** @param {number} keptAudioMs */
  constructor(keptAudioMs) {
    this.#keptAudioMs = keptAudioMs;
  }

  /** Sequence number of the last frame. */
  get sequence() {
    return this.#sequence;
  }

  /**
   * Adds a frame.
   *
   * @param {number} audioMs audio in the frame; 0: an event
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

  /** Returns the next frame that was not sent yet, if any. */
  next() {
    // Frames are in order and the next one is nearly always the last: search from the end.
    let index = this.#kept.length;
    while (index > 0 && (this.#kept[index - 1]?.sequence ?? 0) > this.#handed) index -= 1;
    const frame = this.#kept[index];
    if (frame === undefined) return undefined;
    this.#handed = frame.sequence;
    return frame.data;
  }

  /**
   * @param {number} received the server has every frame up to this one, or knows that it is lost
   * @param {number} [kept] it would not need those up to this one again, even after a kill
   */
  acknowledge(received, kept = received) {
    this.#received = Math.max(this.#received, received);
    this.#kept = this.#kept.filter((frame) => {
      if (frame.sequence > kept) return true;
      this.#audioMs -= frame.audioMs;
      return false;
    });
    this.#doubtful = this.#doubtful.filter((frame) => frame.sequence > kept);
  }

  /**
   * Continues on a new connection: frames after `received` will be sent again.
   *
   * @param {number} received the last frame that the server has processed; after a kill, that it has kept
   * @returns {number} milliseconds of audio that are lost
   */
  resume(received) {
    this.#received = received;
    this.#handed = received;
    return this.#takeLost();
  }

  /**
   * Continues after what another page has sent.
   *
   * @param {number} received the last frame that the server has processed
   */
  adopt(received) {
    this.#sequence = received;
    this.#handed = received;
  }

  /**
   * Continues with another server process. It is unknown what the previous one had processed, so
   * frames that were sent are not sent again: a repeat would be said twice.
   *
   * @returns {number} milliseconds of audio that may be lost
   */
  restart() {
    const sent = this.#kept.filter((frame) => frame.sequence <= this.#handed);
    this.#doubtful.push(...sent);
    const lostMs = this.#takeLost();
    this.acknowledge(this.#handed);
    return lostMs;
  }

  /**
   * Starts over for a new session, with sequence numbers from 1.
   *
   * @returns {number} milliseconds of audio that did not reach the previous session, as far as is
   *   known
   */
  reset() {
    this.#doubtful.push(...this.#kept);
    const lostMs = this.#takeLost();
    this.#doubtful = [];
    this.#kept = [];
    this.#audioMs = 0;
    this.#sequence = 0;
    this.#handed = 0;
    this.#received = 0;
    return lostMs;
  }

  #takeLost() {
    const lost = this.#doubtful.filter((frame) => frame.sequence > this.#received);
    const lostMs = lost.reduce((sum, { audioMs }) => sum + audioMs, this.#lostMs);
    this.#doubtful = this.#doubtful.filter((frame) => frame.sequence <= this.#received);
    this.#lostMs = 0;
    return lostMs;
  }

  /** @param {(frame: Kept) => boolean} isOfKind the oldest matching frame is dropped */
  #giveUp(isOfKind) {
    const index = this.#kept.findIndex(isOfKind);
    const [frame] = this.#kept.splice(index, 1);
    if (frame === undefined) return;
    this.#audioMs -= frame.audioMs;
    if (frame.sequence > this.#handed) this.#lostMs += frame.audioMs;
    else this.#doubtful.push(frame);
  }
}
