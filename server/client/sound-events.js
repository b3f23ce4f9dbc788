import { bytesFromBase64 } from './pcm.js';

/** @import { ServerEvent, SoundEvent } from './api.d.ts' */
/** @import { BinaryFrame } from './binary-frame.js' */

/** Makes one kind of event of sound that comes as binary frames and of sound that comes as base64. */
export class SoundEvents {
  /** Replies by the number that binary frames have for them. @type {Map<number, { responseId: string, itemId: string }>} */
  #replies = new Map();
  /** @type {Map<string, number>} by item */
  #receivedSamples = new Map();

  /**
   * Takes note of what numbers stand for; gives base64 sound its bytes.
   *
   * @param {ServerEvent} event
   * @returns {ServerEvent}
   */
  named(event) {
    if (event.type === 'response.created') {
      const number = event.response.x_dramatis?.number;
      if (number !== undefined) this.#replies.set(number, { responseId: event.response.id, itemId: '' });
    } else if (event.type === 'response.output_item.added') {
      for (const reply of this.#replies.values())
        if (reply.responseId === event.response_id) reply.itemId = event.item.id;
    } else if (event.type === 'response.done') {
      for (const [number, { responseId, itemId }] of this.#replies) {
        if (responseId !== event.response.id) continue;
        this.#replies.delete(number);
        this.#receivedSamples.delete(itemId);
      }
    } else if (event.type === 'response.output_audio.delta') return this.#fromDelta(event);
    return event;
  }

  /**
   * @param {BinaryFrame} frame
   * @returns {SoundEvent | undefined} undefined of a reply that nobody announced
   */
  fromFrame({ replyNumber, sequence, offsetSamples, pcm16 }) {
    const reply = this.#replies.get(replyNumber);
    if (reply === undefined) return undefined;
    return {
      type: 'response.output_audio.delta',
      x_seq: sequence,
      response_id: reply.responseId,
      item_id: reply.itemId,
      output_index: 0,
      content_index: 0,
      offset_samples: offsetSamples,
      pcm16,
    };
  }

  /** @param {SoundEvent & { delta?: string }} event as it came, with base64 */
  #fromDelta({ delta = '', ...event }) {
    const pcm16 = bytesFromBase64(delta);
    const offset = this.#receivedSamples.get(event.item_id) ?? 0;
    this.#receivedSamples.set(event.item_id, offset + (pcm16.length >> 1));
    return { ...event, offset_samples: offset, pcm16 };
  }
}
