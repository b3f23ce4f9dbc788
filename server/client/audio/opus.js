/** @import { OpusCodec } from '../types/api.d.ts' */

/**
 * Opus, where it can be had: in browsers that have WebCodecs, on pages that came over https or from localhost; elsewhere
 * where the package `libopus-wasm` can be loaded, as in Node. Undefined where it cannot.
 *
 * @returns {Promise<OpusCodec | undefined>}
 */
export async function openOpus() {
  try {
    const { openWebCodecs } = await import('./opus-web-codecs.js');
    const codec = await openWebCodecs();
    if (codec !== undefined) return codec;
    const { openLibopus } = await import('./opus-libopus.js');
    return await openLibopus();
  } catch {
    return undefined;
  }
}
