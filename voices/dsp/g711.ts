// The package's types describe its ES module; Node loads the CommonJS build, whose exports are all on the default.
import alawmulaw from 'alawmulaw'; // eslint-disable-line import/default
import { floatsFromInt16, int16FromFloats } from '../audio.ts';

/** The two telephony codecs (ITU-T G.711): µ-law in North America and Japan, A-law elsewhere. One byte per sample. */
export type G711Law = 'mulaw' | 'alaw';

/** Sample rate of G.711 audio, in hertz. */
export const g711SampleRate = 8_000;

/** Mono floats in [-1, 1] to G.711; values outside that range are clipped, NaN becomes silence. */
export function g711FromFloats(samples: Float32Array, law: G711Law): Uint8Array {
  return alawmulaw[law].encode(int16FromFloats(samples));
}

/** G.711 to mono floats in [-1, 1]. */
export function floatsFromG711(bytes: Uint8Array, law: G711Law): Float32Array {
  return floatsFromInt16(alawmulaw[law].decode(bytes));
}
