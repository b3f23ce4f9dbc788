import { bytesFromBase64, toPcm16 } from '../audio/pcm.js';

/** @import { OpusCodec, OpusDecoder, ServerEvent, AudioEvent } from '../types/api.d.ts' */
/** @import { BinaryFrame, OpusPacket } from './binary-frame.js' */

/**
 * A reply in progress.
 *
 * @typedef {object} Reply
 * @property {string} responseId
 * @property {string} itemId
 * @property {Promise<OpusDecoder> | undefined} decoder set if its audio comes as Opus
 * @property {Promise<unknown> | undefined} last the last packet given to the decoder
 */

/**
 * How much of a reply has been received.
 *
 * @typedef {object} Received
 * @property {string} responseId
 * @property {number} samples
 */

/** Converts reply audio from binary frames (PCM or Opus) and from base64 deltas to one kind of event. */
export class AudioEvents {
  #codec;
  /** Replies by their number in binary frames. @type {Map<number, Reply>} */
  #replies = new Map();
  /** @type {Map<string, number>} by item */
  #receivedSamples = new Map();
  /** The reply in progress that was last received from, and how much. @type {Received | undefined} */
  #received;

  /** @param {OpusCodec | undefined} codec given if Opus was requested */
  constructor(codec) {
    this.#codec = codec;
  }

  /** Received part of the reply in progress, if there is one. */
  get received() {
    return this.#received;
  }

  /**
   * Tracks which reply each number refers to; decodes base64 audio.
   *
   * @param {ServerEvent} event
   * @returns {ServerEvent}
   */
  named(event) {
    if (event.type === 'response.created') {
      this.#received = { responseId: event.response.id, samples: 0 };
      const number = event.response.x_dramatis?.number;
      const reply = { responseId: event.response.id, itemId: '', decoder: undefined, last: undefined };
      if (number !== undefined) this.#replies.set(number, reply);
    } else if (event.type === 'response.output_item.added') {
      for (const reply of this.#replies.values())
        if (reply.responseId === event.response_id) reply.itemId = event.item.id;
    } else if (event.type === 'response.done') {
      if (this.#received?.responseId === event.response.id) this.#received = undefined;
      for (const [number, reply] of this.#replies) {
        if (reply.responseId !== event.response.id) continue;
        this.#replies.delete(number);
        this.#receivedSamples.delete(reply.itemId);
        closeDecoder(reply);
      }
    } else if (event.type === 'response.output_audio.delta') return this.#fromDelta(event);
    return event;
  }

  close() {
    for (const reply of this.#replies.values()) closeDecoder(reply);
    this.#replies.clear();
  }

  /**
   * @param {BinaryFrame} frame
   * @returns {AudioEvent | Promise<AudioEvent> | undefined} undefined if the reply was not
   *   announced
   */
  fromFrame(frame) {
    const reply = this.#replies.get(frame.replyNumber);
    if (reply === undefined) return undefined;
    const facts = {
      type: /** @type {const} */ ('response.output_audio.delta'),
      x_seq: frame.sequence,
      response_id: reply.responseId,
      item_id: reply.itemId,
      output_index: 0,
      content_index: 0,
      offset_samples: frame.offsetSamples,
    };
    const samples = 'pcm16' in frame ? frame.pcm16.length >> 1 : frame.opus.takeSamples;
    this.#received = { responseId: reply.responseId, samples: frame.offsetSamples + samples };
    if ('pcm16' in frame) return { ...facts, pcm16: frame.pcm16 };
    return this.#decode(reply, frame.opus).then((samples) => ({ ...facts, pcm16: new Uint8Array(toPcm16(samples)) }));
  }

  /**
   * Decodes to exactly as many samples as the frame says; a packet that cannot be decoded becomes
   * silence.
   *
   * @param {Reply} reply
   * @param {OpusPacket} frame
   */
  #decode(reply, { packet, skipSamples, takeSamples }) {
    reply.decoder ??= this.#codec?.openDecoder() ?? Promise.reject(new Error('Opus was not requested'));
    const decoded = reply.decoder.then((decoder) => decoder.decode(new Uint8Array(packet)));
    const samples = decoded
      .catch(() => new Float32Array(0))
      .then((all) => {
        const taken = new Float32Array(takeSamples);
        taken.set(all.subarray(skipSamples, skipSamples + takeSamples));
        return taken;
      });
    reply.last = samples;
    return samples;
  }

  /** @param {AudioEvent & { delta?: string }} event as received, with base64 */
  #fromDelta({ delta = '', ...event }) {
    const pcm16 = bytesFromBase64(delta);
    const offset = this.#receivedSamples.get(event.item_id) ?? 0;
    const samples = offset + (pcm16.length >> 1);
    this.#receivedSamples.set(event.item_id, samples);
    this.#received = { responseId: event.response_id, samples };
    return { ...event, offset_samples: offset, pcm16 };
  }
}

/**
 * Closes the decoder of a reply once all its packets are decoded.
 *
 * @param {Reply} reply
 */
function closeDecoder({ decoder, last }) {
  void last
    ?.then(() => decoder)
    .then(
      (opened) => opened?.close(),
      () => {},
    );
}
