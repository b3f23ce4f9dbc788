import { WIRE_RATE } from '../audio/pcm.js';
import { MouthTimeline } from './mouth-timeline.js';

/** @import { LipSync, TalkEvent } from '../types/api.d.ts' */

/** The position is assumed to move on this long after the last report of it. */
const LONGEST_GUESS_MS = 150;

const REST = Object.freeze({ viseme: /** @type {const} */ ('sil'), weight: 1 });

/**
 * The mouth of the speaker at the sample that is heard now.
 *
 * @implements {LipSync}
 */
export class HeardLips {
  #now;
  /** @type {Map<string, { timeline: MouthTimeline, responseId: string, received: number, isTold: boolean }>} */
  #items = new Map();
  /** The last report of the playback position. @type {{ itemId: string, samples: number, atMs: number } | undefined} */
  #heard;
  /** @type {string | undefined} the response on hold */
  #held;

  /** @param {() => number} [now] clock in milliseconds */
  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /** @param {TalkEvent} event */
  take(event) {
    switch (event.type) {
      case 'x_dramatis.visemes': {
        const item = this.#itemOf(event.item_id, event.response_id);
        item.isTold = true;
        item.timeline.tell(event);
        break;
      }
      case 'response.output_audio.delta':
        this.#itemOf(event.item_id, event.response_id).received = event.offset_samples + (event.pcm16.length >> 1);
        if (this.#held === event.response_id) this.#held = undefined;
        break;
      case 'x_dramatis.hold':
        this.#held = event.response_id;
        this.#heard = undefined;
        break;
      case 'x_dramatis.resume':
        for (const { timeline, responseId, received } of this.#items.values())
          if (responseId === event.response_id) timeline.resume(received, event.later_samples ?? 0);
        break;
      case 'playback.progress':
        if (this.#held === event.responseId) break;
        this.#heard = { itemId: event.itemId, samples: (event.playedMs * WIRE_RATE) / 1000, atMs: this.#now() };
        break;
      case 'playback.stopped':
        this.#heard = undefined;
        this.#drop(event.responseIds);
        break;
      case 'response.done':
        if (event.response.status === 'cancelled') this.#drop([event.response.id]);
        break;
      case 'playback.ended':
      case 'playback.cut':
        if (this.#heard?.itemId === event.itemId) this.#heard = undefined;
        this.#items.delete(event.itemId);
        break;
      default:
    }
  }

  get sample() {
    if (this.#heard === undefined) return undefined;
    const { samples, atMs } = this.#heard;
    return samples + (Math.min(this.#now() - atMs, LONGEST_GUESS_MS) * WIRE_RATE) / 1000;
  }

  /** @type {LipSync['visemeAt']} */
  visemeAt(sample = this.sample) {
    const timeline = this.#timeline();
    return sample === undefined || timeline === undefined ? this.#unknown() : timeline.visemeAt(sample);
  }

  /** @type {LipSync['weightsAt']} */
  weightsAt(sample = this.sample) {
    const timeline = this.#timeline();
    if (sample !== undefined && timeline !== undefined) return timeline.weightsAt(sample);
    return this.#unknown() === undefined ? undefined : { sil: 1 };
  }

  /** @param {readonly string[]} responseIds */
  #drop(responseIds) {
    for (const [itemId, { responseId }] of this.#items)
      if (responseIds.includes(responseId)) this.#items.delete(itemId);
  }

  /** At rest if nothing is heard; undefined if the server has sent no shapes for the audio that is heard. */
  #unknown() {
    return this.#heard === undefined ? REST : undefined;
  }

  #timeline() {
    const item = this.#heard === undefined ? undefined : this.#items.get(this.#heard.itemId);
    return item?.isTold === true ? item.timeline : undefined;
  }

  /**
   * @param {string} itemId
   * @param {string} responseId
   */
  #itemOf(itemId, responseId) {
    const known = this.#items.get(itemId);
    if (known !== undefined) return known;
    const item = { timeline: new MouthTimeline(), responseId, received: 0, isTold: false };
    this.#items.set(itemId, item);
    return item;
  }
}
