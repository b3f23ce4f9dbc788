import { floatsFromPcm16, pcm16FromFloats } from '../../voices/audio.ts';
import { floatsFromG711, g711FromFloats, g711SampleRate } from '../../voices/dsp/g711.ts';
import { wireSampleRate } from '../protocol/limits.ts';
import { Resampler } from '../../voices/dsp/resampler.ts';

/** Formats of audio in base64, as OpenAI Realtime (GA) names them; all of them mono. */
export type AudioFormat =
  /** 16-bit little-endian. */
  | { readonly type: 'audio/pcm'; readonly rate: typeof wireSampleRate }
  /** G.711 µ-law and A-law, at 8 kHz. */
  | { readonly type: 'audio/pcmu' }
  | { readonly type: 'audio/pcma' };

export const pcmFormat: AudioFormat = { type: 'audio/pcm', rate: wireSampleRate };

/** Returns the format that a client asks for; undefined if it is not supported. */
export function audioFormatOf(wanted: {
  readonly type: string;
  readonly rate?: number | undefined;
}): AudioFormat | undefined {
  const known = [pcmFormat, { type: 'audio/pcmu' }, { type: 'audio/pcma' }] as const;
  const format = known.find(({ type }) => type === wanted.type);
  return format === undefined || (wanted.rate ?? sampleRateOf(format)) !== sampleRateOf(format) ? undefined : format;
}

export function sampleRateOf(format: AudioFormat): number {
  return format.type === 'audio/pcm' ? format.rate : g711SampleRate;
}

/** Converts bytes of a format to floats at its rate, in `into` if they fit; undefined if they end in half a sample. */
export function samplesFromBytes(
  bytes: Uint8Array,
  format: AudioFormat,
  into?: Float32Array,
): Float32Array | undefined {
  if (format.type !== 'audio/pcm') return floatsFromG711(bytes, lawOf(format));
  return bytes.length % 2 === 0 ? floatsFromPcm16(bytes, into) : undefined;
}

/** Converts floats at the format's rate to its bytes. */
export function bytesFromSamples(samples: Float32Array, format: AudioFormat): Buffer {
  if (format.type === 'audio/pcm') return pcm16FromFloats(samples);
  const { buffer, byteOffset, byteLength } = g711FromFloats(samples, lawOf(format));
  return Buffer.from(buffer, byteOffset, byteLength);
}

function lawOf(format: Exclude<AudioFormat, { readonly type: 'audio/pcm' }>): 'mulaw' | 'alaw' {
  return format.type === 'audio/pcmu' ? 'mulaw' : 'alaw';
}

/** Usual text of the event that carries audio: its type and its audio, in this order and nothing else. */
const heads = [
  '{"type":"input_audio_buffer.append","audio":"',
  // As written by Python's `json.dumps`.
  '{"type": "input_audio_buffer.append", "audio": "',
].map((head) => Buffer.from(head));

const tail = Buffer.from('"}');

/** Scratch buffers for decoding: a microphone frame is 2 kB; a second of audio fits in as well. */
const bytes = Buffer.allocUnsafeSlow(64 * 1024);

const floats = new Float32Array(32 * 1024);

/**
 * Returns the audio of an `input_audio_buffer.append` without allocating a string and an object for each frame. The
 * next call overwrites it. Undefined for another form, or an invalid one: parse it then.
 */
export function soundOfAppend(frame: Buffer, format: AudioFormat): Float32Array | undefined {
  if (frame.length > bytes.length || !holds(frame, tail, frame.length - tail.length)) return undefined;
  const head = heads.find((one) => holds(frame, one, 0));
  if (head === undefined) return undefined;
  const audio = frame.toString('latin1', head.length, frame.length - tail.length);
  const length = bytes.write(audio, 'base64');
  return isBase64(audio, length) ? samplesFromBytes(bytes.subarray(0, length), format, floats) : undefined;
}

function holds(frame: Buffer, part: Buffer, offset: number): boolean {
  if (offset < 0 || offset + part.length > frame.length) return false;
  return frame.compare(part, 0, part.length, offset, offset + part.length) === 0;
}

/** True for valid, padded base64. Node skips invalid characters, but accepts those of base64url (RFC 4648 §5). */
function isBase64(audio: string, decodedBytes: number): boolean {
  const isWhole = audio.length % 4 === 0 && decodedBytes === Buffer.byteLength(audio, 'base64');
  return isWhole && !audio.includes('-') && !audio.includes('_');
}

/** A piece of a reply's audio: mono at the wire's rate of 24 kHz. */
export interface ReplyPiece {
  readonly samples: Float32Array;
  /** The same audio in the format that the client asked for, if that is not the wire's PCM. */
  readonly encoded?: Uint8Array;
  /** Samples of the item sent before these. */
  readonly offsetSamples: number;
}

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
  push(samples: Float32Array, sampleRate: number): ReplyPiece | undefined {
    this.#toWire ??= new Resampler(sampleRate, wireSampleRate);
    return this.#pieceOf(this.#toWire.push(samples), false);
  }

  /** Returns what was held back, if anything: no more audio follows. */
  flush(): ReplyPiece | undefined {
    return this.#pieceOf(this.#toWire?.flush() ?? new Float32Array(0), true);
  }

  #pieceOf(samples: Float32Array, last: boolean): ReplyPiece | undefined {
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
