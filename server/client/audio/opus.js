/** @import { OpusCodec } from '../types/api.d.ts' */

/**
 * Opens an Opus codec: WebCodecs in browsers that have it, on pages served over https or from
 * localhost; otherwise the package `libopus-wasm` if it can be loaded, as in Node. Undefined if
 * neither is available.
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
