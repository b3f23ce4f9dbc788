/** Samples per second on the wire, both ways: signed 16-bit little-endian mono. */
export const WIRE_RATE = 24_000;

/** Arguments per call of `String.fromCharCode`; well below what engines allow. */
const CALL_BYTES = 8_192;

/**
 * @param {Float32Array} samples in [-1, 1]; values outside are clipped
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
 * @param {Uint8Array} pcm16 signed 16-bit little-endian
 * @returns {Float32Array<ArrayBuffer>} in [-1, 1)
 */
export function fromPcm16(pcm16) {
  const view = new DataView(pcm16.buffer, pcm16.byteOffset, pcm16.byteLength);
  const samples = new Float32Array(pcm16.length >> 1);
  for (let index = 0; index < samples.length; index += 1) samples[index] = view.getInt16(index * 2, true) / 32_768;
  return samples;
}

/**
 * @param {Uint8Array} bytes
 * @returns {string}
 */
export function toBase64(bytes) {
  let binary = '';
  for (let offset = 0; offset < bytes.length; offset += CALL_BYTES) {
    binary += String.fromCharCode(...bytes.subarray(offset, offset + CALL_BYTES));
  }
  return btoa(binary);
}

/**
 * @param {string} base64
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function bytesFromBase64(base64) {
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < bytes.length; index += 1) bytes[index] = binary.charCodeAt(index);
  return bytes;
}
