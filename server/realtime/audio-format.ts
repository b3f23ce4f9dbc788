import { floatsFromPcm16, pcm16FromFloats } from '../../voices/audio.ts';
import { floatsFromG711, g711FromFloats, g711SampleRate } from '../../voices/dsp/g711.ts';
import { wireSampleRate } from '../protocol/limits.ts';

/** Formats of audio in base64, as OpenAI Realtime (GA) names them; all of them mono. */
export type AudioFormat =
  /** 16-bit little-endian. */
  | { readonly type: 'audio/pcm'; readonly rate: typeof wireSampleRate }
  /** G.711 µ-law and A-law, at 8 kHz. */
  | { readonly type: 'audio/pcmu' }
  | { readonly type: 'audio/pcma' };

/** The format of a session by default. */
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

/** Returns the sample rate in hertz. */
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
