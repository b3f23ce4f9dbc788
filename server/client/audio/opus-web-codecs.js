import { OPUS_BITS_PER_SECOND, OPUS_FRAME_SAMPLES } from './opus-frames.js';
import { WIRE_RATE } from './pcm.js';

/** @import { OpusCodec } from '../types/api.d.ts' */

/**
 * What libopus lags behind by at 24 kHz, measured with Chromium: 6.5 ms. What the browser's `OpusHead` tells is not to be
 * relied on: Chromium counts it at 24 kHz, the format at 48 kHz.
 */
const DELAY_SAMPLES = 156;

const STREAM = { codec: 'opus', sampleRate: WIRE_RATE, numberOfChannels: 1 };
const ENCODER = {
  ...STREAM,
  bitrate: OPUS_BITS_PER_SECOND,
  opus: { frameDuration: 20_000, application: /** @type {const} */ ('audio'), signal: /** @type {const} */ ('voice') },
};

/**
 * Opus by the browser itself; undefined where it has none, or withholds it from a page that is not secure.
 *
 * @returns {Promise<OpusCodec | undefined>}
 */
export async function openWebCodecs() {
  if (globalThis.AudioEncoder === undefined || globalThis.AudioDecoder === undefined) return undefined;
  const able = await Promise.all([AudioEncoder.isConfigSupported(ENCODER), AudioDecoder.isConfigSupported(STREAM)]);
  if (!able.every(({ supported }) => supported)) return undefined;
  return { openEncoder: async () => openEncoder(), openDecoder: async () => openDecoder() };
}

/** One packet comes out for each frame that goes in. */
function openEncoder() {
  /** @type {Answers<Uint8Array<ArrayBuffer>>} */
  const packets = new Answers();
  const encoder = new AudioEncoder({
    output(chunk) {
      const packet = new Uint8Array(chunk.byteLength);
      chunk.copyTo(packet);
      packets.come(packet);
    },
    error: (fault) => packets.fail(fault),
  });
  encoder.configure(ENCODER);
  let frames = 0;
  return {
    delaySamples: DELAY_SAMPLES,
    /** @param {Float32Array<ArrayBuffer>} frame */
    encode(frame) {
      return packets.expect(() => {
        const timestamp = (frames * OPUS_FRAME_SAMPLES * 1e6) / WIRE_RATE;
        frames += 1;
        const facts = { sampleRate: WIRE_RATE, numberOfFrames: frame.length, numberOfChannels: 1, timestamp };
        const sound = new AudioData({ format: 'f32-planar', data: frame, ...facts });
        encoder.encode(sound);
        sound.close();
      });
    },
    close: () => closeCodec(encoder),
  };
}

/** One piece of sound comes out for each packet that goes in. */
function openDecoder() {
  /** @type {Answers<Float32Array<ArrayBuffer>>} */
  const sounds = new Answers();
  const decoder = new AudioDecoder({
    output(sound) {
      const samples = new Float32Array(sound.numberOfFrames);
      sound.copyTo(samples, { planeIndex: 0, format: 'f32-planar' });
      const factor = Math.round(sound.sampleRate / WIRE_RATE);
      sound.close();
      sounds.come(everyNth(samples, factor));
    },
    error: (fault) => sounds.fail(fault),
  });
  decoder.configure(STREAM);
  let packets = 0;
  return {
    /** @param {Uint8Array<ArrayBuffer>} packet */
    decode(packet) {
      return sounds.expect(() => {
        decoder.decode(new EncodedAudioChunk({ type: 'key', timestamp: packets * 20_000, data: packet }));
        packets += 1;
      });
    },
    close: () => closeCodec(decoder),
  };
}

/** @param {AudioEncoder | AudioDecoder} codec */
function closeCodec(codec) {
  if (codec.state !== 'closed') codec.close();
}

/**
 * Browsers decode Opus to 48 kHz. Sound that was encoded at 24 kHz holds nothing above 12 kHz, so that it is enough to
 * leave samples out; libopus does no other.
 *
 * @param {Float32Array<ArrayBuffer>} samples
 * @param {number} factor
 */
function everyNth(samples, factor) {
  if (factor <= 1) return samples;
  return Float32Array.from({ length: Math.floor(samples.length / factor) }, (_, index) => samples[index * factor] ?? 0);
}

/**
 * Answers that come in the order in which they were asked for.
 *
 * @template Answer
 */
class Answers {
  /** @type {PromiseWithResolvers<Answer>[]} */
  #expected = [];

  /**
   * @param {() => void} ask
   * @returns {Promise<Answer>}
   */
  async expect(ask) {
    ask();
    /** @type {PromiseWithResolvers<Answer>} */
    const answer = Promise.withResolvers();
    this.#expected.push(answer);
    return answer.promise;
  }

  /** @param {Answer} answer */
  come(answer) {
    this.#expected.shift()?.resolve(answer);
  }

  /** @param {unknown} fault */
  fail(fault) {
    for (const { reject } of this.#expected.splice(0)) reject(fault);
  }
}
