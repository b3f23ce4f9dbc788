import { WIRE_RATE } from './pcm.js';

/** @import { SpeakerListener, TalkSpeaker } from '../types/api.d.ts' */
/** @import { SpeakerOrder, SpeakerReport } from './speaker-worklet.js' */

/** Timeout of a flush: a suspended audio context does not answer; the last report is used instead. */
const FLUSH_PATIENCE_MS = 200;

/**
 * Plays items of replies in order and knows how much of each has been played.
 *
 * @implements {TalkSpeaker}
 */
export class Speaker {
  #context;
  #node;
  #listener;
  /**
   * Items that have unplayed samples or may receive more; value: milliseconds last reported as
   * played.
   *
   * @type {Map<string, number>}
   */
  #open = new Map();
  /** @type {Map<number, (played: ReadonlyMap<string, number>) => void>} */
  #flushes = new Map();
  #flushCount = 0;

  /**
   * @param {AudioContext} context
   * @param {SpeakerListener} listener
   * @param {AudioNode} [destination] by default the loudspeaker of the context
   */
  static async open(context, listener, destination = context.destination) {
    await context.audioWorklet.addModule(new URL('./speaker-worklet.js', import.meta.url));
    return new Speaker(context, listener, destination);
  }

  /**
   * @private
   * @param {AudioContext} context
   * @param {SpeakerListener} listener
   * @param {AudioNode} destination
   */
  constructor(context, listener, destination) {
    this.#context = context;
    this.#listener = listener;
    this.#node = new AudioWorkletNode(context, 'dramatis-speaker', { numberOfInputs: 0, outputChannelCount: [1] });
    this.#node.port.onmessage = ({ data }) => this.#hear(data);
    this.#node.connect(destination);
  }

  /** False while the browser suspends audio output (no user gesture yet). */
  get isRunning() {
    return this.#context.state === 'running';
  }

  /** True from the first samples of an item until it has ended or was flushed. */
  get isPlaying() {
    return this.#open.size > 0;
  }

  /**
   * @param {string} itemId
   * @param {Float32Array<ArrayBuffer>} samples at 24 kHz; transferred, not usable afterwards
   * @param {number} [sentLateMs] milliseconds that the server itself was behind real time
   */
  play(itemId, samples, sentLateMs = 0) {
    if (!this.#open.has(itemId)) this.#open.set(itemId, 0);
    const sentLate = (sentLateMs * WIRE_RATE) / 1000;
    this.#order({ type: 'play', itemId, samples, sentLate }, [samples.buffer]);
  }

  /**
   * Marks an item as complete: no more samples will follow.
   *
   * @param {string} itemId
   */
  complete(itemId) {
    if (this.#open.has(itemId)) this.#order({ type: 'complete', itemId });
  }

  /**
   * Stops playback with a fade-out of one block (5 ms).
   *
   * @returns {Promise<ReadonlyMap<string, number>>} milliseconds played of each item that had not
   *   ended; Infinity if all of it was played
   */
  async flush() {
    const lastKnown = new Map(this.#open);
    this.#open.clear();
    this.#flushCount += 1;
    const flushId = this.#flushCount;
    /** @type {PromiseWithResolvers<ReadonlyMap<string, number> | undefined>} */
    const { promise, resolve } = Promise.withResolvers();
    this.#flushes.set(flushId, resolve);
    const timer = setTimeout(resolve, FLUSH_PATIENCE_MS, undefined);
    this.#order({ type: 'flush', flushId });
    const played = await promise;
    clearTimeout(timer);
    this.#flushes.delete(flushId);
    if (played === undefined) return lastKnown;
    return new Map(Array.from(played, ([itemId, samples]) => [itemId, (samples * 1000) / WIRE_RATE]));
  }

  close() {
    this.#open.clear();
    this.#node.port.onmessage = null;
    this.#node.disconnect();
  }

  /** @param {SpeakerReport} report */
  #hear(report) {
    if (report.type === 'flushed') {
      this.#flushes.get(report.flushId)?.(report.played);
    } else if (report.type === 'onset') {
      this.#listener.onOnset(report.itemId, this.#soundsAt(report.frame));
    } else if (this.#open.has(report.itemId)) {
      this.#hearOf(report);
    }
  }

  /** @param {Extract<SpeakerReport, { type: 'progress' | 'ended' }>} report */
  #hearOf(report) {
    if (report.type === 'ended') {
      this.#open.delete(report.itemId);
      this.#listener.onEnded(report.itemId);
    } else {
      const playedMs = (report.played * 1000) / WIRE_RATE;
      this.#open.set(report.itemId, playedMs);
      this.#listener.onProgress(report.itemId, playedMs, report.level);
    }
  }

  /**
   * Returns when a sample frame of the context leaves the loudspeaker, output latency included, on
   * the clock of `performance.now()`.
   *
   * @param {number} frame
   */
  #soundsAt(frame) {
    const at = frame / this.#context.sampleRate;
    const { contextTime, performanceTime } = this.#context.getOutputTimestamp?.() ?? {};
    if (contextTime !== undefined && performanceTime !== undefined && contextTime > 0) {
      return performanceTime + (at - contextTime) * 1000;
    }
    const aheadMs = (at - this.#context.currentTime + (this.#context.outputLatency || 0)) * 1000;
    return performance.now() + aheadMs;
  }

  /**
   * @param {SpeakerOrder} order
   * @param {Transferable[]} [transfer]
   */
  #order(order, transfer = []) {
    this.#node.port.postMessage(order, transfer);
  }
}
