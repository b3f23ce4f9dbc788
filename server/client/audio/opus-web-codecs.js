import { OPUS_BITS_PER_SECOND, OPUS_FRAME_SAMPLES } from './opus-frames.js';
import { WIRE_RATE } from './pcm.js';

/** @import { OpusCodec } from '../types/api.d.ts' */

/**
 * Delay of libopus at 24 kHz, 6.5 ms, measured with Chromium. The pre-skip in the browser's `OpusHead` is not reliable:
 * Chromium counts it at 24 kHz, the format at 48 kHz.
 */
const DELAY_SAMPLES = 156;

const STREAM = { codec: 'opus', sampleRate: WIRE_RATE, numberOfChannels: 1 };
const ENCODER = {
  ...STREAM,
  bitrate: OPUS_BITS_PER_SECOND,
  opus: { frameDuration: 20_000, application: /** @type {const} */ ('audio'), signal: /** @type {const} */ ('voice') },
};

/**
 * Opens the browser's own Opus codec (WebCodecs); undefined if it has none or the page is not a
 * secure context.
 *
 * @returns {Promise<OpusCodec | undefined>}
 */
export async function openWebCodecs() {
  if (globalThis.AudioEncoder === undefined || globalThis.AudioDecoder === undefined) return undefined;
  const able = await Promise.all([AudioEncoder.isConfigSupported(ENCODER), AudioDecoder.isConfigSupported(STREAM)]);
  if (!able.every(({ supported }) => supported)) return undefined;
  return { openEncoder: async () => openEncoder(), openDecoder: async () => openDecoder() };
}

/** Opens an encoder that outputs one packet per input frame. */
function openEncoder() {
  /** @type {PendingResults<Uint8Array<ArrayBuffer>>} */
  const packets = new PendingResults();
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

/** Opens a decoder that outputs one block of samples per input packet. */
function openDecoder() {
  /** @type {PendingResults<Float32Array<ArrayBuffer>>} */
  const sounds = new PendingResults();
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
 * Decimates by `factor`: browsers decode Opus to 48 kHz. Audio that was encoded at 24 kHz has
 * nothing above 12 kHz, so no filter is needed; libopus does the same.
 *
 * @param {Float32Array<ArrayBuffer>} samples
 * @param {number} factor
 */
function everyNth(samples, factor) {
  if (factor <= 1) return samples;
  return Float32Array.from({ length: Math.floor(samples.length / factor) }, (_, index) => samples[index * factor] ?? 0);
}

/**
 * Matches results of a callback API to requests; results come in the order of the requests.
 *
 * @template Answer
 */
class PendingResults {
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
