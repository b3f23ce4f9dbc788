/** Samples per second on the wire, both ways: signed 16-bit little-endian mono. */
export const WIRE_RATE = 24_000;

/**
 * @param {Float32Array} samples in [-1, 1]; what lies outside is clipped
 * @returns {ArrayBuffer} signed 16-bit little-endian
 */
export function toPcm16(samples) {
  const view = new DataView(new ArrayBuffer(samples.length * 2));
  for (const [index, sample] of samples.entries()) {
    view.setInt16(index * 2, Math.round(Math.max(-1, Math.min(1, sample)) * 32_767), true);
  }
  return view.buffer;
}

/**
 * @param {ArrayBuffer} bytes
 * @returns {string}
 */
export function toBase64(bytes) {
  return btoa(String.fromCharCode(...new Uint8Array(bytes)));
}

/**
 * @param {string} base64 of signed 16-bit little-endian samples
 * @returns {Float32Array<ArrayBuffer>} in [-1, 1)
 */
export function fromBase64Pcm16(base64) {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  const samples = new Float32Array(bytes.length >> 1);
  for (let index = 0; index < samples.length; index += 1) samples[index] = view.getInt16(index * 2, true) / 32_768;
  return samples;
}
