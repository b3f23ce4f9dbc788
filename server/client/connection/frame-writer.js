import { encodeFrame } from './binary-frame.js';
import { OrderedQueue } from './ordered-queue.js';
import { OpusFrames } from '../audio/opus-frames.js';
import { fromPcm16, toBase64, WIRE_RATE } from '../audio/pcm.js';

/** @import { ClientEvent, OpusEncoder } from '../types/api.d.ts' */
/** @import { OpusPacket } from './binary-frame.js' */

/**
 * Serializes a frame; without a sequence number if frames are not numbered.
 *
 * @typedef {(numbers: { x_seq?: number, x_ack?: number }) => string | Uint8Array<ArrayBuffer>} Write
 */

/** Serializes user audio and client events to frames, in order: the Opus encoder is asynchronous. */
export class FrameWriter {
  #push;
  #inOrder = new OrderedQueue();
  #isBinary = false;
  /** Set if audio is sent as Opus. @type {OpusEncoder | undefined} */
  #encoder;
  /** One stream for the whole conversation. @type {OpusFrames | undefined} */
  #frames;
  /** Samples sent, by player. @type {Map<number, number>} */
  #sentSamples = new Map();

  /**
   * @param {(audioMs: number, write: Write) => void} push numbers and sends a frame; 0
   *   milliseconds: an event
   */
  constructor(push) {
    this.#push = push;
  }

  /**
   * Sets how audio is sent from now on.
   *
   * @param {boolean} isBinary
   * @param {OpusEncoder | undefined} encoder requires numbered frames
   */
  use(isBinary, encoder) {
    this.#isBinary = isBinary;
    this.#encoder = encoder;
    if (encoder !== undefined) this.#frames ??= new OpusFrames(encoder.delaySamples);
  }

  /** @param {ClientEvent} event */
  event(event) {
    // Audio from before the event must not follow it.
    if (event.type.startsWith('input_audio_buffer.')) this.#encode(this.#frames?.flush() ?? []);
    this.#inOrder.do(() => this.#push(0, (numbers) => JSON.stringify({ ...event, ...numbers })));
  }

  /**
   * The Opus encoder is that of player 0; the sound of others is sent as PCM.
   *
   * @param {Uint8Array<ArrayBuffer>} pcm16
   * @param {number} [player]
   */
  sound(pcm16, player = 0) {
    if (this.#encoder === undefined || player !== 0)
      this.#inOrder.do(() => this.#sound(pcm16.length >> 1, { pcm16 }, player));
    else this.#encode(this.#frames?.push(fromPcm16(pcm16)) ?? []);
  }

  /** @param {import('../audio/opus-frames.js').OpusFrame[]} frames */
  #encode(frames) {
    for (const { samples, ...part } of frames) {
      const packet = this.#encoder?.encode(samples) ?? Promise.reject(new Error('no encoder'));
      // Stop using an encoder that fails.
      packet.catch(() => (this.#encoder = undefined));
      this.#inOrder.after(packet, (bytes) => this.#sound(part.takeSamples, { opus: { packet: bytes, ...part } }));
    }
  }

  /**
   * @param {number} samples
   * @param {{ pcm16: Uint8Array<ArrayBuffer> } | { opus: OpusPacket }} sound
   * @param {number} [player]
   */
  #sound(samples, sound, player = 0) {
    const offsetSamples = this.#sentSamples.get(player) ?? 0;
    this.#sentSamples.set(player, offsetSamples + samples);
    this.#push((samples * 1000) / WIRE_RATE, ({ x_seq: sequence, ...numbers }) => {
      if (sequence !== undefined && ('opus' in sound || this.#isBinary)) {
        return encodeFrame({ kind: 'input', replyNumber: player, sequence, offsetSamples, ...sound });
      }
      const event = { type: 'input_audio_buffer.append', audio: 'pcm16' in sound ? toBase64(sound.pcm16) : '' };
      const from = player === 0 ? {} : { x_dramatis: { player } };
      return JSON.stringify({ ...event, ...from, ...(sequence === undefined ? {} : { x_seq: sequence }), ...numbers });
    });
  }
}
