import { WIRE_RATE } from './pcm.js';

/** Pieces this late are no jitter but an outage: to wait for the next one would cost more than it saves. */
const OUTAGE_SAMPLES = 1.2 * WIRE_RATE;
/** How far back replies are remembered, in sound received. */
const MEMORY_SAMPLES = 60 * WIRE_RATE;
/** On top of the worst that is remembered; the second as a part of it. */
const LEAST_MARGIN_SAMPLES = 0.06 * WIRE_RATE;
const HABIT_MARGIN = 0.4;
/** One late reply may be bad luck; so many are the network's habit, and worse is to come. */
const HABIT = 2;

/**
 * How the pieces of one reply came, measured against playing it at once from its first piece on.
 *
 * @typedef {object} Reply
 * @property {number} until sound received in all when its last piece came
 * @property {number} late samples that its latest piece came too late: by so much it should have begun later
 * @property {number} early samples that its earliest piece came before it was due
 */

/**
 * How long to hold back the beginning of a reply so that none of its later pieces comes too late. Pure: it is told how
 * late pieces came, in samples, and nothing of clocks. While nothing comes late, thanks to the sender's lead, nothing is
 * held back.
 *
 * A quick first piece makes all others look late; a slow one hides what the network can do. So replies are compared as
 * if each had begun with a quick one: how slow it was shows in how much earlier than the lead alone the others came.
 */
export class JitterBuffer {
  /** Oldest first. @type {Reply[]} */
  #replies = [];
  #received = 0;

  /** Samples by which playing is to be delayed. */
  get delaySamples() {
    const late = this.#replies.filter((reply) => reply.late > 0);
    if (late.length === 0) return 0;
    const lead = Math.min(...this.#replies.map((reply) => reply.early));
    const worst = Math.max(...late.map((reply) => reply.late + reply.early - lead));
    return worst + Math.max(LEAST_MARGIN_SAMPLES, late.length >= HABIT ? HABIT_MARGIN * worst : 0);
  }

  /** The first piece of a reply has come. */
  begin() {
    this.#replies.push({ until: this.#received, late: 0, early: 0 });
  }

  /**
   * @param {number} lateness of a piece of the last reply, in samples; negative: it was early
   * @param {number} length of the piece, in samples
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
