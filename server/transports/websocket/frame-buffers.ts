/** Room for a frame with 60 ms of sound in base64. */
const roomBytes = 8 * 1024;
/** What is shorter shares a buffer of Node's own pool. */
const leastCharacters = 1_024;
/** Rooms that wait to be used again, for all sockets together. */
const mostFree = 128;
const free: Buffer[] = [];

/** A text on its way out, and what is to be called once it has been handed to the machine. */
export interface FrameBuffer {
  readonly bytes: Buffer;
  release(): void;
}

/**
 * Puts a text in UTF-8 into a buffer that is used again after `release`: one for each frame of speech would be most of what
 * a server with many sessions throws away, and buffers are collected with the old generation only. Undefined where the text
 * is too short for that to matter, or too long.
 */
export function frameBufferOf(text: string): FrameBuffer | undefined {
  if (text.length < leastCharacters || Buffer.byteLength(text) > roomBytes) return undefined;
  const room = free.pop() ?? Buffer.from(new ArrayBuffer(roomBytes));
  return {
    bytes: room.subarray(0, room.write(text)),
    release: () => void (free.length < mostFree && free.push(room)),
  };
}
