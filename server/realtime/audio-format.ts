import { floatsFromPcm16, pcm16FromFloats } from '../../voices/audio.ts';
import { floatsFromG711, g711FromFloats, g711SampleRate } from '../../voices/dsp/g711.ts';
import { wireSampleRate } from '../protocol/limits.ts';

/** What sound in base64 may be, as OpenAI Realtime (GA) names it; all of it mono. */
export type AudioFormat =
  /** 16-bit little-endian. */
  | { readonly type: 'audio/pcm'; readonly rate: typeof wireSampleRate }
  /** G.711 µ-law and A-law, at 8 kHz. */
  | { readonly type: 'audio/pcmu' }
  | { readonly type: 'audio/pcma' };

/** What a session speaks unless it is told otherwise. */
export const pcmFormat: AudioFormat = { type: 'audio/pcm', rate: wireSampleRate };

/** The format a client asks for; undefined where we do not have it. */
export function audioFormatOf(wanted: {
  readonly type: string;
  readonly rate?: number | undefined;
}): AudioFormat | undefined {
  const known = [pcmFormat, { type: 'audio/pcmu' }, { type: 'audio/pcma' }] as const;
  const format = known.find(({ type }) => type === wanted.type);
  return format === undefined || (wanted.rate ?? sampleRateOf(format)) !== sampleRateOf(format) ? undefined : format;
}

/** Samples a second, in hertz. */
export function sampleRateOf(format: AudioFormat): number {
  return format.type === 'audio/pcm' ? format.rate : g711SampleRate;
}

/** Bytes of a format to floats at its rate, in `into` where they fit; undefined where they end in half a sample. */
export function samplesFromBytes(
  bytes: Uint8Array,
  format: AudioFormat,
  into?: Float32Array,
): Float32Array | undefined {
  if (format.type !== 'audio/pcm') return floatsFromG711(bytes, lawOf(format));
  return bytes.length % 2 === 0 ? floatsFromPcm16(bytes, into) : undefined;
}

/** Floats at the format's rate to its bytes. */
export function bytesFromSamples(samples: Float32Array, format: AudioFormat): Buffer {
  if (format.type === 'audio/pcm') return pcm16FromFloats(samples);
  const { buffer, byteOffset, byteLength } = g711FromFloats(samples, lawOf(format));
  return Buffer.from(buffer, byteOffset, byteLength);
}

function lawOf(format: Exclude<AudioFormat, { readonly type: 'audio/pcm' }>): 'mulaw' | 'alaw' {
  return format.type === 'audio/pcmu' ? 'mulaw' : 'alaw';
}
