import { encodeFrame } from './binary-frame.js';
import { InOrder } from './in-order.js';
import { OpusFrames } from '../audio/opus-frames.js';
import { fromPcm16, toBase64, WIRE_RATE } from '../audio/pcm.js';

/** @import { ClientEvent, OpusEncoder } from '../types/api.d.ts' */
/** @import { OpusPacket } from './binary-frame.js' */

/**
 * Writes a frame; without a number where frames are not numbered.
 *
 * @typedef {(numbers: { x_seq?: number, x_ack?: number }) => string | Uint8Array<ArrayBuffer>} Write
 */

/** What the user says and sends, as frames, in its order: Opus takes a moment to come out of its encoder. */
export class Outgoing {
  #push;
  #inOrder = new InOrder();
  #isBinary = false;
  /** Where sound leaves as Opus. @type {OpusEncoder | undefined} */
  #encoder;
  /** One stream for as long as the talk lasts. @type {OpusFrames | undefined} */
  #frames;
  #sentSamples = 0;

  /** @param {(audioMs: number, write: Write) => void} push numbers a frame and sends it; 0 milliseconds: an event */
  constructor(push) {
    this.#push = push;
  }

  /**
   * How sound leaves from now on.
   *
   * @param {boolean} isBinary
   * @param {OpusEncoder | undefined} encoder frames must be numbered then
   */
  use(isBinary, encoder) {
    this.#isBinary = isBinary;
    this.#encoder = encoder;
    if (encoder !== undefined) this.#frames ??= new OpusFrames(encoder.delaySamples);
  }

  /** @param {ClientEvent} event */
  event(event) {
    // What was said before it is not to be behind it.
    if (event.type.startsWith('input_audio_buffer.')) this.#encode(this.#frames?.flush() ?? []);
    this.#inOrder.do(() => this.#push(0, (numbers) => JSON.stringify({ ...event, ...numbers })));
  }

  /** @param {Uint8Array<ArrayBuffer>} pcm16 */
  sound(pcm16) {
    if (this.#encoder === undefined) this.#inOrder.do(() => this.#sound(pcm16.length >> 1, { pcm16 }));
    else this.#encode(this.#frames?.push(fromPcm16(pcm16)) ?? []);
  }

  /** @param {import('../audio/opus-frames.js').OpusFrame[]} frames */
  #encode(frames) {
    for (const { samples, ...part } of frames) {
      const packet = this.#encoder?.encode(samples) ?? Promise.reject(new Error('no encoder'));
      // One that breaks is done without.
      packet.catch(() => (this.#encoder = undefined));
      this.#inOrder.after(packet, (bytes) => this.#sound(part.takeSamples, { opus: { packet: bytes, ...part } }));
    }
  }

  /**
   * @param {number} samples
   * @param {{ pcm16: Uint8Array<ArrayBuffer> } | { opus: OpusPacket }} sound
   */
  #sound(samples, sound) {
    const offsetSamples = this.#sentSamples;
    this.#sentSamples += samples;
    this.#push((samples * 1000) / WIRE_RATE, ({ x_seq: sequence, ...numbers }) => {
      if (sequence !== undefined && ('opus' in sound || this.#isBinary)) {
        return encodeFrame({ kind: 'input', replyNumber: 0, sequence, offsetSamples, ...sound });
      }
      const event = { type: 'input_audio_buffer.append', audio: 'pcm16' in sound ? toBase64(sound.pcm16) : '' };
      return JSON.stringify({ ...event, ...(sequence === undefined ? {} : { x_seq: sequence }), ...numbers });
    });
  }
}
