/** Size of a buffer: fits a frame with 60 ms of audio in base64. */
const roomBytes = 8 * 1024;
/** Shorter texts share a buffer of Node's own pool. */
const leastCharacters = 1_024;
/** Most free buffers kept, for all sockets together. */
const mostFree = 128;
const free: Buffer[] = [];

/** An encoded text, with a function to call once the socket has written it. */
export interface FrameBuffer {
  readonly bytes: Buffer;
  release(): void;
}

/**
 * Encodes a text as UTF-8 into a pooled buffer, which is reused after `release`. A new buffer for each audio frame
 * would be most of the garbage of a server with many sessions, and buffers are only collected with the old generation.
 * Returns undefined if the text is too short for that to matter, or too long.
 */
export function frameBufferOf(text: string): FrameBuffer | undefined {
  if (text.length < leastCharacters || Buffer.byteLength(text) > roomBytes) return undefined;
  const room = free.pop() ?? Buffer.from(new ArrayBuffer(roomBytes));
  return {
    bytes: room.subarray(0, room.write(text)),
    release: () => void (free.length < mostFree && free.push(room)),
  };
}
