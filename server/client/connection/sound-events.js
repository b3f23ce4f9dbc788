import { bytesFromBase64, toPcm16 } from '../audio/pcm.js';

/** @import { OpusCodec, OpusDecoder, ServerEvent, SoundEvent } from '../types/api.d.ts' */
/** @import { BinaryFrame, OpusPacket } from './binary-frame.js' */

/**
 * A reply under way.
 *
 * @typedef {object} Reply
 * @property {string} responseId
 * @property {string} itemId
 * @property {Promise<OpusDecoder> | undefined} decoder where its sound comes as Opus
 * @property {Promise<unknown> | undefined} last its last packet that was given to the decoder
 */

/** Makes one kind of event of sound that comes as binary frames, PCM or Opus, and of sound that comes as base64. */
export class SoundEvents {
  #codec;
  /** Replies by the number that binary frames have for them. @type {Map<number, Reply>} */
  #replies = new Map();
  /** @type {Map<string, number>} by item */
  #receivedSamples = new Map();

  /** @param {OpusCodec | undefined} codec where Opus was asked for */
  constructor(codec) {
    this.#codec = codec;
  }

  /**
   * Takes note of what numbers stand for; gives base64 sound its bytes.
   *
   * @param {ServerEvent} event
   * @returns {ServerEvent}
   */
  named(event) {
    if (event.type === 'response.created') {
      const number = event.response.x_dramatis?.number;
      const reply = { responseId: event.response.id, itemId: '', decoder: undefined, last: undefined };
      if (number !== undefined) this.#replies.set(number, reply);
    } else if (event.type === 'response.output_item.added') {
      for (const reply of this.#replies.values())
        if (reply.responseId === event.response_id) reply.itemId = event.item.id;
    } else if (event.type === 'response.done') {
      for (const [number, reply] of this.#replies) {
        if (reply.responseId !== event.response.id) continue;
        this.#replies.delete(number);
        this.#receivedSamples.delete(reply.itemId);
        closeDecoder(reply);
      }
    } else if (event.type === 'response.output_audio.delta') return this.#fromDelta(event);
    return event;
  }

  /** Nothing more is asked of it. */
  close() {
    for (const reply of this.#replies.values()) closeDecoder(reply);
    this.#replies.clear();
  }

  /**
   * @param {BinaryFrame} frame
   * @returns {SoundEvent | Promise<SoundEvent> | undefined} undefined of a reply that nobody announced
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
    if ('pcm16' in frame) return { ...facts, pcm16: frame.pcm16 };
    return this.#decode(reply, frame.opus).then((samples) => ({ ...facts, pcm16: new Uint8Array(toPcm16(samples)) }));
  }

  /**
   * As many samples as the frame tells, come what may: those of a packet that cannot be decoded are silence.
   *
   * @param {Reply} reply
   * @param {OpusPacket} frame
   */
  #decode(reply, { packet, skipSamples, takeSamples }) {
    reply.decoder ??= this.#codec?.openDecoder() ?? Promise.reject(new Error('Opus was not asked for'));
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

  /** @param {SoundEvent & { delta?: string }} event as it came, with base64 */
  #fromDelta({ delta = '', ...event }) {
    const pcm16 = bytesFromBase64(delta);
    const offset = this.#receivedSamples.get(event.item_id) ?? 0;
    this.#receivedSamples.set(event.item_id, offset + (pcm16.length >> 1));
    return { ...event, offset_samples: offset, pcm16 };
  }
}

/**
 * When it has decoded what it was given.
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
