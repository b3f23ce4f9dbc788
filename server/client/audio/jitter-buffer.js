import { WIRE_RATE } from './pcm.js';

/** Chunks this late are an outage rather than jitter: buffering against the next one would cost more than it saves. */
const OUTAGE_SAMPLES = 1.2 * WIRE_RATE;
/** History of replies, in samples received. */
const MEMORY_SAMPLES = 60 * WIRE_RATE;
/** Margins added to the worst lateness in the history: a minimum in samples, and a fraction of the worst. */
const LEAST_MARGIN_SAMPLES = 0.06 * WIRE_RATE;
const HABIT_MARGIN = 0.4;
/** Late replies from which the larger margin applies: one may be bad luck, more mean that the network is slow. */
const HABIT = 2;

/**
 * Arrival times of the chunks of one reply, relative to playing it immediately from its first
 * chunk.
 *
 * @typedef {object} Reply
 * @property {number} until total samples received when its last chunk arrived
 * @property {number} late samples by which its latest chunk was late: playback should have started
 *   that much later
 * @property {number} early samples by which its earliest chunk was early
 */

/**
 * Estimates how long to delay the start of a reply so that none of its later chunks is late. Pure: takes lateness in
 * samples and has no clock. While no chunk is late, thanks to the sender's lead, there is no delay.
 *
 * A fast first chunk makes all others look late; a slow one hides the jitter. So replies are compared as if each had
 * started with a fast one: how slow the first chunk was shows in how much earlier than the lead alone the others
 * arrived.
 */
export class JitterBuffer {
  /** Oldest first. @type {Reply[]} */
  #replies = [];
  #received = 0;

  /** Samples by which to delay the start of playback. */
  get delaySamples() {
    const late = this.#replies.filter((reply) => reply.late > 0);
    if (late.length === 0) return 0;
    const lead = Math.min(...this.#replies.map((reply) => reply.early));
    const worst = Math.max(...late.map((reply) => reply.late + reply.early - lead));
    return worst + Math.max(LEAST_MARGIN_SAMPLES, late.length >= HABIT ? HABIT_MARGIN * worst : 0);
  }

  /** Notes that the first chunk of a reply has arrived. */
  begin() {
    this.#replies.push({ until: this.#received, late: 0, early: 0 });
  }

  /**
   * @param {number} lateness of a chunk of the last reply, in samples; negative: it was early
   * @param {number} length of the chunk, in samples
   */
  note(lateness, length) {
    const reply = this.#replies.at(-1);
    if (reply === undefined) return;
    this.#received += length;
    reply.until = this.#received;
    if (lateness <= OUTAGE_SAMPLES) {
      reply.late = Math.max(reply.late, lateness);
      reply.early = Math.max(reply.early, -lateness);
    }
    while ((this.#replies[0]?.until ?? Infinity) < this.#received - MEMORY_SAMPLES) this.#replies.shift();
  }
}
