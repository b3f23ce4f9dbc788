import { Resampler } from '../../voices/dsp/resampler.ts';
import { wireSampleRate } from '../protocol/limits.ts';
import { bytesFromSamples, sampleRateOf, type AudioFormat } from './audio-format.ts';
import type { OutgoingAudio } from './wire-event.ts';

type Piece = Pick<OutgoingAudio, 'samples' | 'offsetSamples' | 'encoded'>;

/** Converts the audio of one reply to the wire's rate, and to the client's format if that is not the wire's PCM. */
export class ReplyAudio {
  readonly #format: AudioFormat;
  readonly #toFormat: Resampler | undefined;
  #toWire: Resampler | undefined;
  #sentSamples = 0;

  constructor(format: AudioFormat) {
    this.#format = format;
    this.#toFormat = format.type === 'audio/pcm' ? undefined : new Resampler(wireSampleRate, sampleRateOf(format));
  }

  /** Takes a piece; all pieces have one rate. Returns what can be sent by now, if anything. */
  push(samples: Float32Array, sampleRate: number): Piece | undefined {
    this.#toWire ??= new Resampler(sampleRate, wireSampleRate);
    return this.#pieceOf(this.#toWire.push(samples), false);
  }

  /** Returns what was held back, if anything: no more audio follows. */
  flush(): Piece | undefined {
    return this.#pieceOf(this.#toWire?.flush() ?? new Float32Array(0), true);
  }

  #pieceOf(samples: Float32Array, last: boolean): Piece | undefined {
    const encoded = this.#encode(samples, last);
    if (samples.length === 0 && (encoded === undefined || encoded.length === 0)) return undefined;
    const offsetSamples = this.#sentSamples;
    this.#sentSamples += samples.length;
    return { samples, offsetSamples, ...(encoded === undefined ? {} : { encoded }) };
  }

  #encode(samples: Float32Array, last: boolean): Uint8Array | undefined {
    if (this.#toFormat === undefined) return undefined;
    const head = bytesFromSamples(this.#toFormat.push(samples), this.#format);
    return last ? Buffer.concat([head, bytesFromSamples(this.#toFormat.flush(), this.#format)]) : head;
  }
}
