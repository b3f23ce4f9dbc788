import { WIRE_RATE } from './audio/pcm.js';

/** @import { TalkEvent } from './types/api.d.ts' */

/**
 * An event that belongs to a sample of an item, such as `x_dramatis.cue`.
 *
 * @typedef {object} Placed
 * @property {string} type
 * @property {string} response_id
 * @property {string | null} [item_id]
 * @property {string} [action_id]
 * @property {number} samples
 */

/** A cut fades out over this time, in milliseconds: a word that begins in it was not heard. */
const FADE_MS = 6;

/** Events that take place at a sample. */
const PLACED = new Set(['x_dramatis.cue', 'x_dramatis.action']);

/** Tells cues and actions when their sample was heard. What the user does not hear never happens. */
export class Moments {
  #onDue;
  /** @type {{ at: number, event: Placed }[]} */
  #waiting = [];
  /** Responses that are no longer played, although more of them may come. @type {Set<string>} */
  #stopped = new Set();

  /** @param {(event: Placed) => void} onDue */
  constructor(onDue) {
    this.#onDue = onDue;
  }

  /** @param {TalkEvent | Placed} told any event of the conversation, in order */
  take(told) {
    const event = /** @type {TalkEvent} */ (told);
    if (PLACED.has(event.type)) {
      const placed = /** @type {Placed} */ (told);
      // A reply without words has no item: its actions wait for nothing.
      if (placed.action_id !== undefined && placed.item_id === null) return this.#onDue(placed);
      if (this.#stopped.has(placed.response_id)) return;
      this.#waiting.push({ at: placed.samples, event: placed });
      this.#waiting.sort((one, other) => one.at - other.at);
    } else if (event.type === 'playback.progress' && !this.#stopped.has(event.responseId))
      this.#heard(event, Math.round((event.playedMs * WIRE_RATE) / 1000));
    else if (event.type === 'playback.ended') this.#heard(event, Infinity);
    else if (event.type === 'playback.stopped') for (const id of event.responseIds) this.#stopped.add(id);
    else if (event.type === 'playback.cut') {
      // The position at the cut, which is reported to the server, may be past the last progress.
      this.#heard(event, Math.round(((event.heardMs - FADE_MS) * WIRE_RATE) / 1000));
      this.#forget(({ response_id: id }) => id === event.responseId);
    } else if (event.type === 'response.created') this.#stopped.clear();
    else if (event.type === 'x_dramatis.resume') {
      // The clause is said again: what was not heard of it comes later.
      for (const each of this.#waiting)
        if (each.event.response_id === event.response_id) each.at += event.later_samples ?? 0;
    } else if (event.type === 'x_dramatis.action_off') {
      this.#forget(({ action_id: id }) => id === event.action_id);
    }
  }

  /**
   * @param {{ itemId: string, responseId: string }} item
   * @param {number} samples
   */
  #heard({ itemId, responseId }, samples) {
    // A cue that comes before its item was opened names only the response.
    const isHere = (/** @type {Placed} */ { item_id: id, response_id: ofId }) =>
      typeof id === 'string' ? id === itemId : ofId === responseId;
    const isDue = (/** @type {{ at: number, event: Placed }} */ { at, event }) => at < samples && isHere(event);
    const due = this.#waiting.filter(isDue);
    this.#waiting = this.#waiting.filter((each) => !isDue(each));
    for (const { event } of due) this.#onDue(event);
  }

  /** @param {(event: Placed) => boolean} isGone */
  #forget(isGone) {
    this.#waiting = this.#waiting.filter(({ event }) => !isGone(event));
  }
}
