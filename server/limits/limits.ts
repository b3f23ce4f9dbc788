/** One bound on what a client can make the server hold or do. */
export interface Limit {
  readonly value: number;
  readonly unit: 'bytes' | 'frames' | 'sockets' | 'characters' | 'seconds' | 'failures' | 'addresses';
  /** The reason for this value. */
  readonly reason: string;
}

/** Every bound that is no setting. `SECURITY.md` lists them; a test compares the two. */
export const limits = {
  openingFrameBytes: {
    value: 64 * 1024,
    unit: 'bytes',
    reason: 'a frame of a phone call, which shows its key only in its `start` message; Twilio sends less than 1 KiB',
  },
  openingSockets: { value: 64, unit: 'sockets', reason: 'phone calls that have not begun, in all: 4 MiB of frames' },
  openingSocketsPerAddress: {
    value: 32,
    unit: 'sockets',
    reason: 'phone calls that have not begun, from one address; Twilio calls from a few',
  },
  clientSecretBodyBytes: {
    value: 192 * 1024,
    unit: 'bytes',
    reason:
      'the request for a client secret, refused before it is parsed: three times the session, for escapes and spaces',
  },
  clientSecretBytes: { value: 64 * 1024, unit: 'bytes', reason: 'the session that a client secret starts, as JSON' },
  clientSecretOverheadBytes: {
    value: 1024,
    unit: 'bytes',
    reason: 'counted for each client secret besides its session: its entry in the table',
  },
  clientSecretsBytes: { value: 32 * 2 ** 20, unit: 'bytes', reason: 'all client secrets: some 32,000 small ones' },
  clientSecretsBytesPerKey: {
    value: 16 * 2 ** 20,
    unit: 'bytes',
    reason: 'client secrets of one account: half, so that no account takes the room of the others',
  },
  saveBytes: {
    value: 16 * 2 ** 20,
    unit: 'bytes',
    reason: 'a save of one user: some 30,000 turns, parsed and checked in 0.3 s',
  },
  failedKeys: {
    value: 30,
    unit: 'failures',
    reason: 'wrong keys of one address, as a burst and a minute; then 429, while keys accepted there before still work',
  },
  keyCharacters: {
    value: 16,
    unit: 'characters',
    reason: 'shortest key of a server that others can reach, so that guessing is hopeless at any rate',
  },
  addresses: {
    value: 10_000,
    unit: 'addresses',
    reason: 'addresses whose failures or handshakes are remembered; the oldest are forgotten first',
  },
  bodyIdleSeconds: { value: 10, unit: 'seconds', reason: 'time in which something of a request body must arrive' },
  bodySeconds: { value: 60, unit: 'seconds', reason: 'time for a whole request body that is no upload' },
  uploadSeconds: { value: 300, unit: 'seconds', reason: 'time for an uploaded file: 25 MiB at 0.7 Mbit/s' },
  readBytesASecond: {
    value: 512 * 1024,
    unit: 'bytes',
    reason: 'read from a client in a second while the event loop is busy: eight times what speech in JSON needs',
  },
  readBurstBytes: {
    value: 2 * 2 ** 20,
    unit: 'bytes',
    reason: 'read beyond that at once: 30 seconds of speech in JSON',
  },
  readFramesASecond: {
    value: 100,
    unit: 'frames',
    reason: 'frames read from a client in a second while the event loop is busy: speech in pieces of 10 ms',
  },
  readBurstFrames: { value: 400, unit: 'frames', reason: 'read beyond that at once: speech held back by 8 seconds' },
} as const satisfies Record<string, Limit>;
