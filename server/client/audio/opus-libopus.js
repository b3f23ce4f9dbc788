import { Application, createDecoder, createEncoder, loadLibopus, Signal } from 'libopus-wasm';
import { OPUS_BITS_PER_SECOND, OPUS_FRAME_SAMPLES } from './opus-frames.js';
import { WIRE_RATE } from './pcm.js';

/** @import { OpusCodec } from '../types/api.d.ts' */

/** Longest Opus packet: 120 ms. */
const MOST_PACKET_SAMPLES = 0.12 * WIRE_RATE;

/**
 * Opens libopus compiled to WebAssembly, as used in Node.
 *
 * @returns {Promise<OpusCodec>}
 */
export async function openLibopus() {
  await loadLibopus();
  return {
    async openEncoder() {
      const encoder = await createEncoder({
        sampleRate: WIRE_RATE,
        channels: 1,
        frameSize: OPUS_FRAME_SAMPLES,
        application: Application.Audio,
        signal: Signal.Voice,
        bitrate: OPUS_BITS_PER_SECOND,
        complexity: 5,
      });
      return {
        delaySamples: encoder.getLookahead(),
        encode: async (frame) => encoder.encodeFloat(frame),
        close: () => encoder.free(),
      };
    },
    async openDecoder() {
      const decoder = await createDecoder({ sampleRate: WIRE_RATE, channels: 1, maxFrameSize: MOST_PACKET_SAMPLES });
      return { decode: async (packet) => decoder.decodeFloat(packet), close: () => decoder.free() };
    },
  };
}
