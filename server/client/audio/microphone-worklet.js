import { toPcm16, WIRE_RATE } from './pcm.js';
import { Resampler } from './resampler.js';
import { worklet } from './worklet-scope.js';

/** 40 ms: short enough not to delay the end of a turn, long enough to limit the number of messages. */
const CHUNK_SAMPLES = 960;

/**
 * Message of the microphone worklet, one per 40 ms of audio.
 *
 * @typedef {object} MicrophoneChunk
 * @property {ArrayBuffer} pcm signed 16-bit little-endian mono at 24 kHz
 * @property {number} level root mean square, 0 to 1
 * @property {number} peak 0 to 1; exactly 0 when the device delivers nothing
 */

/** Splits the microphone signal into chunks for the wire; resamples if the context has a different rate. */
class MicrophoneProcessor extends worklet.AudioWorkletProcessor {
  #resampler = worklet.sampleRate === WIRE_RATE ? undefined : new Resampler(worklet.sampleRate, WIRE_RATE);
  #chunk = new Float32Array(CHUNK_SAMPLES);
  #filled = 0;

  /** @param {Float32Array[][]} inputs */
  process(inputs) {
    const channel = inputs[0]?.[0];
    if (channel === undefined) return true;
    const samples = this.#resampler?.push(channel) ?? channel;
    for (const sample of samples) {
      this.#chunk[this.#filled] = sample;
      this.#filled += 1;
      if (this.#filled === CHUNK_SAMPLES) this.#post();
    }
    return true;
  }

  #post() {
    let squares = 0;
    let peak = 0;
    for (const sample of this.#chunk) {
      squares += sample * sample;
      peak = Math.max(peak, Math.abs(sample));
    }
    /** @type {MicrophoneChunk} */
    const message = { pcm: toPcm16(this.#chunk), level: Math.sqrt(squares / CHUNK_SAMPLES), peak };
    this.port.postMessage(message, [message.pcm]);
    this.#filled = 0;
  }
}

worklet.registerProcessor('dramatis-microphone', MicrophoneProcessor);
