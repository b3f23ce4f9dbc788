// Its types are those of its ES module; Node loads the CommonJS one, whose whole is the default.
import alawmulaw from 'alawmulaw'; // eslint-disable-line import/default
import { floatsFromInt16, int16FromFloats } from '../audio.ts';

/** The telephone's two codecs (ITU-T G.711): µ-law in North America and Japan, A-law elsewhere. One byte a sample. */
export type G711Law = 'mulaw' | 'alaw';

/** The rate of telephone sound, in hertz. */
export const g711SampleRate = 8_000;

/** Mono floats in [-1, 1] to G.711; values outside are clipped, NaN becomes silence. */
export function g711FromFloats(samples: Float32Array, law: G711Law): Uint8Array {
  return alawmulaw[law].encode(int16FromFloats(samples));
}

/** G.711 to mono floats in [-1, 1]. */
export function floatsFromG711(bytes: Uint8Array, law: G711Law): Float32Array {
  return floatsFromInt16(alawmulaw[law].decode(bytes));
}
