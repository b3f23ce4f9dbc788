/**
 * Binary frames, agreed by `x=binary`: 12 bytes of header, little-endian, then sound.
 *
 * | byte | is |
 * |---|---|
 * | 0 | kind: 1 sound of the user, 2 sound of a reply |
 * | 1 | codec: 0 for 16-bit little-endian mono PCM at 24 kHz |
 * | 2–3 | number of the reply, as `response.created` told it (`x_dramatis.number`); 0 from the client |
 * | 4–7 | sequence number, in one row with the JSON events of the same direction |
 * | 8–11 | samples of this reply (or of the user's sound) that went before |
 *
 * @typedef {object} BinaryFrame
 * @property {'input' | 'reply'} kind
 * @property {number} replyNumber
 * @property {number} sequence
 * @property {number} offsetSamples
 * @property {Uint8Array} pcm16 16-bit little-endian mono PCM at 24 kHz
 */

/** Length of the header in bytes. */
export const headerBytes = 12;
const kinds = /** @type {const} */ (['input', 'reply']);

/**
 * Writes a frame. Sequence and offset wrap at 2³².
 *
 * @param {Readonly<BinaryFrame>} frame
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function encodeFrame(frame) {
  const bytes = new Uint8Array(headerBytes + frame.pcm16.length);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, kinds.indexOf(frame.kind) + 1);
  view.setUint16(2, frame.replyNumber & 0xff_ff, true);
  view.setUint32(4, frame.sequence >>> 0, true);
  view.setUint32(8, frame.offsetSamples >>> 0, true);
  bytes.set(frame.pcm16, headerBytes);
  return bytes;
}

/**
 * Reads a frame; undefined where it is none: too short, of an unknown kind or codec, or half a sample.
 *
 * @param {Uint8Array} bytes
 * @returns {BinaryFrame | undefined}
 */
export function decodeFrame(bytes) {
  if (bytes.length < headerBytes || (bytes.length - headerBytes) % 2 !== 0) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const kind = kinds[view.getUint8(0) - 1];
  if (kind === undefined || view.getUint8(1) !== 0) return undefined;
  return {
    kind,
    replyNumber: view.getUint16(2, true),
    sequence: view.getUint32(4, true),
    offsetSamples: view.getUint32(8, true),
    pcm16: bytes.subarray(headerBytes),
  };
}
