// The codec is in the client folder because browsers load it from there.
export { decodeFrame, encodeFrame } from '../client/connection/binary-frame.js';
export type { OpusPacket } from '../client/connection/binary-frame.js';
