import { WIRE_RATE } from './pcm.js';

/** Pieces this late are no jitter but an outage: to wait for the next one would cost more than it saves. */
const OUTAGE_SAMPLES = 1.2 * WIRE_RATE;
/** On top of what was the latest so far: some of luck is in each measurement. */
const MARGIN_SAMPLES = 0.1 * WIRE_RATE;
/** How far back, in sound received, lateness is remembered; and how finely. */
const MEMORY_SAMPLES = 60 * WIRE_RATE;
const SPAN_SAMPLES = WIRE_RATE;

/**
 * How long to hold back the beginning of a reply so that none of its later pieces comes too late. Pure: it is told how
 * late pieces came, and nothing of clocks.
 *
 * A piece's lateness is how much longer after the first piece of its reply it came than playing at once would have
 * allowed. What the sender was late itself (a slow mind or voice) is not the network's fault, comes only now and then,
 * and is left out: to wait for it would make every answer slower.
 */
export class JitterBuffer {
  /** The worst of each span of sound received, oldest first. @type {{ until: number, lateness: number }[]} */
  #spans = [];
  #received = 0;

  /** Samples by which playing is to be delayed. */
  get delaySamples() {
    const worst = this.#spans.reduce((most, { lateness }) => Math.max(most, lateness), 0);
    return worst === 0 ? 0 : worst + MARGIN_SAMPLES;
  }

  /**
   * @param {number} lateness of a piece, in samples; negative: it was early
   * @param {number} length of the piece, in samples
   */
  note(lateness, length) {
    this.#received += length;
    if (lateness > OUTAGE_SAMPLES) return;
    const span = this.#spans.at(-1);
    if (span !== undefined && this.#received <= span.until) span.lateness = Math.max(span.lateness, lateness);
    else this.#spans.push({ until: this.#received + SPAN_SAMPLES, lateness });
    while ((this.#spans[0]?.until ?? Infinity) < this.#received - MEMORY_SAMPLES) this.#spans.shift();
  }
}
