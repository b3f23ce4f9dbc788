// The codec is in the client folder because browsers load it from there.
export { decodeFrame, encodeFrame } from '../client/binary-frame.js';
export type { OpusPacket } from '../client/binary-frame.js';
