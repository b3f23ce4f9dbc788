/**
 * Types of `dramatis/client`. The modules beside it are plain JavaScript that browsers run as they are; `tsc` checks
 * them against this file.
 */

import type { Session, TalkEvent, Viseme } from './events.d.ts';

export type * from './events.d.ts';

/** A client event of OpenAI Realtime (GA). */
export interface ClientEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Playback callbacks of a loudspeaker; all are called per item. */
export interface SpeakerListener {
  onProgress(itemId: string, playedMs: number, level: number): void;
  onOnset(itemId: string, atMs: number): void;
  onEnded(itemId: string): void;
}

/** Plays items one after the other and knows how much of each has been played. */
export interface TalkSpeaker {
  /** False while the browser suspends audio output (no user gesture yet): nothing can be heard then. */
  readonly isRunning: boolean;
  /** True from the first samples of an item until it has ended or was flushed. */
  readonly isPlaying: boolean;
  /**
   * Queues samples at 24 kHz; the buffer is transferred. `sentLateMs` is how far the server itself was behind real
   * time, see `jitter-buffer.js`.
   */
  play(itemId: string, samples: Float32Array<ArrayBuffer>, sentLateMs: number): void;
  /** No more samples of this item will come. */
  complete(itemId: string): void;
  /**
   * Stops playback at once. Resolves to the milliseconds played of each item that had not ended; Infinity if all of it
   * was played.
   */
  flush(): Promise<ReadonlyMap<string, number>>;
  close(): void;
}

/** Timers and random numbers. */
export interface TalkClock {
  /** Calls `run` in `ms` milliseconds. The returned function cancels the timer. */
  after(ms: number, run: () => void): () => void;
  /** Returns a random number in [0, 1). */
  random(): number;
}

/**
 * The subset of WebSocket that this client uses; the global one of browsers and Node 22 fits, and so does the class of
 * the package `ws`.
 */
export interface TalkSocket {
  binaryType: string;
  readonly readyState: number;
  readonly bufferedAmount: number;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
  send(data: string | Uint8Array<ArrayBuffer>): void;
  close(code?: number): void;
}

/** Opus at 24 kHz, mono, 20 ms a packet; see `opus.js`. */
export interface OpusCodec {
  openEncoder(): Promise<OpusEncoder>;
  /** Opens a decoder for one stream; decoders are stateful. */
  openDecoder(): Promise<OpusDecoder>;
}

export interface OpusEncoder {
  /** Codec delay in samples: how far decoded audio lags behind what the encoder was given. */
  readonly delaySamples: number;
  /** Encodes 480 samples. Packets resolve in the order of the frames. */
  encode(frame: Float32Array<ArrayBuffer>): Promise<Uint8Array>;
  close(): void;
}

export interface OpusDecoder {
  /** Decodes one packet; rejects if it is invalid. Audio resolves in the order of the packets. */
  decode(packet: Uint8Array<ArrayBuffer>): Promise<Float32Array>;
  close(): void;
}

export interface TalkOptions {
  /** URL of the server, such as `http://localhost:8080`; http(s) or ws(s), the path may be left out. */
  readonly url: string | URL;
  /** Id of the character; the server's default character unless given. */
  readonly character?: string;
  readonly apiKey?: string;
  /** Requests the thoughts of characters too (`x_dramatis.cue` of kind `thought`). */
  readonly thoughts?: boolean;
  /** Requests the mouth shapes (`x_dramatis.visemes`), for `talk.mouth`. */
  readonly visemes?: boolean;
  /** WebSocket class; the global one unless given. */
  readonly WebSocket?: new (url: string | URL, protocols: string[]) => TalkSocket;
  /** Fetches the health of a server that rejected a connection; the global `fetch` unless given. */
  readonly fetch?: (
    url: URL,
    init?: { headers: Record<string, string> },
  ) => Promise<Pick<Response, 'status' | 'ok' | 'json'>>;
  /** Timers and random numbers; the platform's unless given. For simulations. */
  readonly clock?: TalkClock;
  /** In browsers: opens the default microphone and sends its audio. */
  readonly microphone?: boolean;
  /** `true`, in browsers: plays the replies on the loudspeaker. A function, anywhere: opens a custom loudspeaker. */
  readonly speaker?: boolean | ((listener: SpeakerListener) => Promise<TalkSpeaker>);
  /** In browsers: an existing audio context from `openAudio`. Create it in the handler of a user gesture. */
  readonly audio?: AudioContext;
  /** Receives every event immediately; `events` stays empty then. */
  readonly onEvent?: (event: TalkEvent) => void;
  /**
   * Sends and receives audio as Opus, an eighth of the bytes of PCM, if both this runtime (see `opus.js`) and the
   * server support it. Otherwise, and by default, audio travels as PCM.
   */
  readonly opus?: boolean;
  /**
   * Continues the session of an earlier page, without the replies that were in progress there. If that session is gone,
   * a new one is opened (`connection.open` with `isNew`).
   */
  readonly resumption?: Resumption | undefined;
  /** Milliseconds of user audio buffered while the connection is lost: 30,000 unless given. */
  readonly keptAudioMs?: number;
}

/** State that another page needs to continue a session: JSON, for a reload of the page. Keep the token secret. */
export interface Resumption {
  readonly token: string;
  /** Sequence number of the last frame that was received. */
  readonly received: number;
  readonly session: Session;
}

/** The mouth of the speaker. Undefined results: only the loudness of what is heard is known. */
export interface LipSync {
  /** The sample at 24 kHz of the item that is heard now; undefined if nothing is. */
  readonly sample: number | undefined;
  /** Returns the shape at a sample of the item that is heard; by default, the one that is heard now. */
  visemeAt(sample?: number): { readonly viseme: Viseme; readonly weight: number } | undefined;
  /** Returns the weights of the shapes to draw, which fade into each other; mix them with `viseme-tables.js`. */
  weightsAt(sample?: number): Partial<Record<Viseme, number>> | undefined;
}

/** One of several players, who are named with `session.update`: `x_dramatis: {players: [{number, name}]}`. */
export interface OfPlayer {
  readonly player?: number | undefined;
}

/** A conversation with one character. Reconnects automatically when the connection is lost, without missing any events. */
export interface Talk {
  /** All events in order. Ends when the conversation is over. For a single consumer. */
  readonly events: AsyncIterable<TalkEvent>;
  /**
   * Resolves when the first session and the requested devices are open; rejects with `TalkError` if no session can be
   * opened.
   */
  readonly opened: Promise<Session>;
  /** True while a reply is being played or is queued for playback. */
  readonly isPlaying: boolean;
  /** True if replies can be heard: there is a loudspeaker and it is running. */
  readonly isAudible: boolean;
  /** Taken when the page is left, lets the next one continue the session. Undefined if it cannot be resumed. */
  readonly resumption: Resumption | undefined;
  /** True while the server has an active response. */
  readonly isAnswering: boolean;
  /** The mouth of the speaker; it needs the option `visemes`. */
  readonly mouth: LipSync;
  /** Sends an event, now or after reconnecting. Returns false if there is no session to send it to. */
  send(event: ClientEvent): boolean;
  /** Sends a text message, of a player if there are several, and requests a reply. Interrupts the current reply, as speech does. */
  say(text: string, by?: OfPlayer): boolean;
  /**
   * Sends user audio, of a player if there are several: 16-bit little-endian mono PCM at 24 kHz. With `opus`, the audio
   * of player 0 is encoded.
   */
  sendAudio(pcm16: ArrayBuffer | ArrayBufferView<ArrayBuffer>, by?: OfPlayer): boolean;
  /** Stops the reply and reports to the server how much of it was heard. */
  interrupt(): Promise<void>;
  /** Reports how many samples of a response have been played; for clients that do their own playback. */
  heard(responseId: string, samples: number): void;
  /** Reconnects at once: skips the rest of the back-off, and replaces a connection that seems open. */
  reconnect(): void;
  close(): void;
}

/** The first session could not be opened; `code` is the server's, or `connection_refused`, `replaced` or `closed`. */
export declare class TalkError extends Error {
  readonly code: string;
  constructor(code: string, message: string);
}

/**
 * Opens a conversation with a character. Reconnects automatically when the connection is lost: events of both sides from
 * the meantime are then delivered exactly once and in order.
 */
export declare function openTalk(options: TalkOptions): Talk;
