import { PlaybackQueue } from './playback-queue.js';
import { worklet } from './worklet-scope.js';

/** Between two reports of the position: about 11 ms at 24 kHz, because actions take place when it is reported. */
const REPORT_SAMPLES = 256;
/** Over which the level is measured: about 40 ms. */
const LEVEL_SAMPLES = 1_024;

/**
 * Messages from the page to the speaker worklet.
 *
 * @typedef {{ type: 'play', itemId: string, samples: Float32Array, sentLate: number }
 * | { type: 'complete', itemId: string }
 * | { type: 'flush', flushId: number }} SpeakerOrder
 */

/**
 * Messages from the speaker worklet to the page. `frame` is a sample index of the audio context.
 *
 * @typedef {{ type: 'progress', itemId: string, played: number, level: number }
 * | { type: 'onset', itemId: string, frame: number }
 * | { type: 'ended', itemId: string }
 * | { type: 'flushed', flushId: number, played: ReadonlyMap<string, number> }} SpeakerReport
 */

/** Plays audio from the page and reports, to the sample, how much has been played. */
class SpeakerProcessor extends worklet.AudioWorkletProcessor {
  #queue = new PlaybackQueue();
  /**
   * Queues to fade out in the next block. Audio that arrives after the flush goes to a new queue.
   *
   * @type {{ flushId: number, queue: PlaybackQueue }[]}
   */
  #flushes = [];
  #sinceReport = 0;
  #measured = 0;
  #squares = 0;
  #level = 0;

  constructor() {
    super();
    this.port.onmessage = ({ data }) => this.#obey(data);
  }

  /**
   * @param {Float32Array[][]} _inputs
   * @param {Float32Array[][]} outputs
   */
  process(_inputs, outputs) {
    const output = outputs[0]?.[0];
    if (output === undefined) return true;
    if (this.#flushes.length > 0) this.#flush(output);
    else this.#play(output);
    return true;
  }

  /** @param {SpeakerOrder} order */
  #obey(order) {
    if (order.type === 'play') this.#queue.push(order.itemId, order.samples, order.sentLate);
    else if (order.type === 'complete') this.#queue.complete(order.itemId);
    else {
      this.#flushes.push({ flushId: order.flushId, queue: this.#queue });
      this.#queue = new PlaybackQueue(this.#queue);
    }
  }

  /** @param {Float32Array} output */
  #play(output) {
    const { item, onsets, ended } = this.#queue.render(output);
    for (const { itemId, offset } of onsets) {
      this.#report({ type: 'onset', itemId, frame: worklet.currentFrame + offset });
    }
    if (item !== undefined) this.#progress(item.itemId, item.played, output);
    for (const itemId of ended) this.#report({ type: 'ended', itemId });
  }

  /**
   * @param {string} itemId
   * @param {number} played
   * @param {Float32Array} output
   */
  #progress(itemId, played, output) {
    this.#measure(output);
    this.#sinceReport += output.length;
    if (this.#sinceReport < REPORT_SAMPLES) return;
    this.#report({ type: 'progress', itemId, played, level: this.#level });
    this.#sinceReport = 0;
  }

  /** @param {Float32Array} output */
  #measure(output) {
    for (const sample of output) this.#squares += sample * sample;
    this.#measured += output.length;
    if (this.#measured < LEVEL_SAMPLES) return;
    this.#level = Math.sqrt(this.#squares / this.#measured);
    this.#measured = 0;
    this.#squares = 0;
  }

  /** @param {Float32Array} output */
  #flush(output) {
    for (const [index, { flushId, queue }] of this.#flushes.entries()) {
      const played = queue.flush(index === 0 ? output : new Float32Array(output.length));
      this.#report({ type: 'flushed', flushId, played });
    }
    this.#flushes = [];
  }

  /** @param {SpeakerReport} report */
  #report(report) {
    this.port.postMessage(report);
  }
}

worklet.registerProcessor('dramatis-speaker', SpeakerProcessor);
