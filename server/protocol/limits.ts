/** Bounds on what a client may send; beyond them it gets a coded error. */
export const limits = {
  /** One WebSocket frame. OpenAI allows 15 MiB of audio in one append, which is 20 MiB of base64. */
  frameBytes: 21 * 1024 * 1024,
  /** Objects and arrays within each other, in one event. */
  nestingLevels: 64,
  /** One text content, in characters. */
  textCharacters: 20_000,
  /** Instructions, in characters. */
  instructionsCharacters: 50_000,
  /** Ids and event ids, in characters. */
  idCharacters: 128,
  /** Name of a user who is remembered, in characters. */
  userCharacters: 256,
  /** Arguments or output of one call, and an item that is only kept, in characters. */
  callCharacters: 50_000,
  /** Tools of a session or a response, as JSON, in characters. */
  toolsCharacters: 100_000,
  /** Settings that are only echoed, each as JSON, in characters. */
  echoCharacters: 10_000,
  /** Content parts of one item, and items of one `response.create`. */
  listLength: 256,
  /** Sound that may wait to be heard, in milliseconds. */
  waitingAudioMs: 600_000,
  /** Bytes of sent frames kept for a client that may come back: two minutes of a reply in JSON. */
  keptBytes: 8 * 1024 * 1024,
  /** Bytes that may wait for a client that does not read: twice the largest frame, an item with a minute of sound. */
  unsentBytes: 8 * 1024 * 1024,
} as const;

/** The one PCM format of the wire: 16-bit little-endian mono at this rate, as OpenAI Realtime (GA) has it. */
export const wireSampleRate = 24_000;
