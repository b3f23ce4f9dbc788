/** Limits on client input; beyond them the client gets an error with a code. */
export const limits = {
  /** One WebSocket frame. OpenAI allows 15 MiB of audio in one append, which is 20 MiB of base64. */
  frameBytes: 21 * 1024 * 1024,
  /** One event without its audio and pictures: tools and instructions at their limits, in three-byte characters. */
  textFrameBytes: 256 * 1024,
  /** A longer string is audio or a picture, which only some events may hold. */
  mediaStringBytes: 64 * 1024,
  /** Values in one event: twice the largest set of tools. Parsing and checking them takes about 10 ms. */
  frameValues: 10_000,
  /**
   * Events other than audio, for each second and at once: enough for a scene's instructions each second, and for a
   * conversation of a day to be sent at the start.
   */
  eventBytesPerSecond: 128 * 1024,
  eventBurstBytes: 2 * 1024 * 1024,
  /** Nesting depth of objects and arrays in one event. */
  nestingLevels: 64,
  /** One text content, in characters. */
  textCharacters: 20_000,
  /** Texts of one item together, in characters. */
  itemCharacters: 100_000,
  /** Instructions, in characters. */
  instructionsCharacters: 50_000,
  /** Ids and event ids, in characters. */
  idCharacters: 128,
  /** Id of a user whose memories are kept, in characters. */
  userCharacters: 256,
  /** Arguments or output of one call, or an item that is only stored, in characters. */
  callCharacters: 50_000,
  /** Tools of a session or a response, as JSON, in characters. */
  toolsCharacters: 100_000,
  /** Settings that are only echoed, each, as JSON, in characters. */
  echoCharacters: 10_000,
  /** Content parts of one item, and items of one `response.create`. */
  listLength: 256,
  /** Input audio that may be queued for processing, in milliseconds. */
  waitingAudioMs: 600_000,
  /** Bytes of sent frames kept for a client that may reconnect: two minutes of reply audio in JSON. */
  keptBytes: 8 * 1024 * 1024,
  /** Bytes queued for a client that does not read: twice the largest frame, an item with a minute of audio. */
  unsentBytes: 8 * 1024 * 1024,
} as const;

/** Sample rate of the wire's PCM format, 16-bit little-endian mono, as in OpenAI Realtime (GA). */
export const wireSampleRate = 24_000;
