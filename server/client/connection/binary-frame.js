/**
 * Binary frames, negotiated with `x=binary` or `x=opus`: a 12-byte little-endian header, then mono
 * audio at 24 kHz.
 *
 * | byte | meaning |
 * |---|---|
 * | 0 | kind: 1 for user audio, 2 for reply audio |
 * | 1 | codec: 0 for 16-bit little-endian PCM, 1 for one Opus packet (only with `x=opus`) |
 * | 2–3 | number of the reply from `response.created` (`x_dramatis.number`); from the client the number of the player, 0 if there is one alone |
 * | 4–7 | sequence number, shared with the JSON events of the same direction |
 * | 8–11 | offset: samples of this reply (or of the user audio) before this frame |
 *
 * With Opus, 4 more bytes precede the packet: of the samples it decodes to at 24 kHz, how many to
 * skip (12–13) and how many to take after those (14–15). The samples taken from all packets in
 * order are exactly the original samples. Each reply is its own stream with its own decoder,
 * and so is the audio of each player.
 *
 * @typedef {object} OpusPacket
 * @property {Uint8Array} packet
 * @property {number} skipSamples at most 65,535, like `takeSamples`
 * @property {number} takeSamples
 *
 * @typedef {object} FrameHeader
 * @property {'input' | 'reply'} kind
 * @property {number} replyNumber
 * @property {number} sequence
 * @property {number} offsetSamples
 *
 * @typedef {FrameHeader & { pcm16: Uint8Array }} PcmFrame
 * @typedef {FrameHeader & { opus: OpusPacket }} OpusFrame
 * @typedef {PcmFrame | OpusFrame} BinaryFrame
 */

/** Length of the header in bytes. */
export const headerBytes = 12;
const opusHeaderBytes = headerBytes + 4;
const kinds = /** @type {const} */ (['input', 'reply']);

/**
 * Encodes a frame. Sequence and offset wrap at 2³².
 *
 * @param {Readonly<BinaryFrame>} frame
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function encodeFrame(frame) {
  const isOpus = 'opus' in frame;
  const sound = isOpus ? frame.opus.packet : frame.pcm16;
  const soundFrom = isOpus ? opusHeaderBytes : headerBytes;
  const bytes = new Uint8Array(soundFrom + sound.length);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, kinds.indexOf(frame.kind) + 1);
  view.setUint8(1, isOpus ? 1 : 0);
  view.setUint16(2, frame.replyNumber & 0xff_ff, true);
  view.setUint32(4, frame.sequence >>> 0, true);
  view.setUint32(8, frame.offsetSamples >>> 0, true);
  if (isOpus) {
    view.setUint16(12, frame.opus.skipSamples, true);
    view.setUint16(14, frame.opus.takeSamples, true);
  }
  bytes.set(sound, soundFrom);
  return bytes;
}

/**
 * Decodes a frame; undefined if it is invalid: too short, of an unknown kind or codec, or with half
 * a sample. Opus packets are validated only by the decoder.
 *
 * @param {Uint8Array} bytes
 * @returns {BinaryFrame | undefined}
 */
export function decodeFrame(bytes) {
  if (bytes.length < headerBytes) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const kind = kinds[view.getUint8(0) - 1];
  if (kind === undefined) return undefined;
  const header = {
    kind,
    replyNumber: view.getUint16(2, true),
    sequence: view.getUint32(4, true),
    offsetSamples: view.getUint32(8, true),
  };
  const codec = view.getUint8(1);
  if (codec === 0 && bytes.length % 2 === 0) return { ...header, pcm16: bytes.subarray(headerBytes) };
  if (codec !== 1 || bytes.length < opusHeaderBytes) return undefined;
  const packet = bytes.subarray(opusHeaderBytes);
  return { ...header, opus: { packet, skipSamples: view.getUint16(12, true), takeSamples: view.getUint16(14, true) } };
}
