/**
 * Types of `dramatis/client`. The modules beside it are plain JavaScript that browsers run as they are; `tsc` checks them
 * against this file.
 */

import type { Session, TalkEvent } from './events.d.ts';

export type * from './events.d.ts';

/** A client event of OpenAI Realtime (GA). */
export interface ClientEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** What a loudspeaker tells of the items it plays. */
export interface SpeakerListener {
  onProgress(itemId: string, playedMs: number, level: number): void;
  onOnset(itemId: string, atMs: number): void;
  onEnded(itemId: string): void;
}

/** Plays items one after the other, and knows how much of each has been played. */
export interface TalkSpeaker {
  /** False while the loudspeaker is withheld: then nothing sounds. */
  readonly isRunning: boolean;
  /** From the first samples of an item until it has ended or was flushed. */
  readonly isPlaying: boolean;
  /** At 24 kHz; handed over. `sentLateMs`: how far behind real time the server itself was, see `jitter-buffer.js`. */
  play(itemId: string, samples: Float32Array<ArrayBuffer>, sentLateMs: number): void;
  /** No more samples of this item will come. */
  complete(itemId: string): void;
  /** Silence at once. Resolves to the milliseconds played of each item that had not ended; Infinity: all. */
  flush(): Promise<ReadonlyMap<string, number>>;
  close(): void;
}

/** Timers and chance. */
export interface TalkClock {
  /** Runs `run` in `ms`, unless what this returns is called before. */
  after(ms: number, run: () => void): () => void;
  /** In [0, 1). */
  random(): number;
}

/** What this client needs of a WebSocket: the global one of browsers and Node 22, or the class of `ws`. */
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
  /** For one stream. */
  openDecoder(): Promise<OpusDecoder>;
}

export interface OpusEncoder {
  /** By so many samples what a decoder gives lags behind what the encoder was given. */
  readonly delaySamples: number;
  /** Takes 480 samples. Packets come in the order of the frames. */
  encode(frame: Float32Array<ArrayBuffer>): Promise<Uint8Array>;
  close(): void;
}

export interface OpusDecoder {
  /** Rejects where it is no packet. Sound comes in the order of the packets. */
  decode(packet: Uint8Array<ArrayBuffer>): Promise<Float32Array>;
  close(): void;
}

export interface TalkOptions {
  /** The server, such as `http://localhost:8080`; http(s) or ws(s), the path may be left out. */
  readonly url: string | URL;
  /** The character's id; by default the server's default character. */
  readonly character?: string;
  readonly apiKey?: string;
  /** Told also what characters think (`x_dramatis.cue` of kind `thought`). */
  readonly thoughts?: boolean;
  /** By default the global one. */
  readonly WebSocket?: new (url: string | URL, protocols: string[]) => TalkSocket;
  /** Asks how a server is that turned a connection away. By default the global one. */
  readonly fetch?: (url: URL) => Promise<Pick<Response, 'status' | 'ok' | 'json'>>;
  /** By default the platform's; a simulation brings its own. */
  readonly clock?: TalkClock;
  /** Browsers: opens the default microphone and sends what it hears. */
  readonly microphone?: boolean;
  /** Browsers: plays the replies on the loudspeaker. Anywhere: what opens a loudspeaker of your own. */
  readonly speaker?: boolean | ((listener: SpeakerListener) => Promise<TalkSpeaker>);
  /** Browsers: what `openAudio` gave, where there is one already. Make it in the handler of a tap. */
  readonly audio?: AudioContext;
  /** Told of everything at once; then `events` stays empty. */
  readonly onEvent?: (event: TalkEvent) => void;
  /**
   * Sound travels as Opus, in an eighth of the bytes: where this runtime has it (see `opus.js`) and the server too. Elsewhere
   * as PCM, as it does by default.
   */
  readonly opus?: boolean;
  /** The user's sound that is kept while the connection is away, in milliseconds: 30,000 unless given. */
  readonly keptAudioMs?: number;
}

/** One talk with one character. It comes back by itself when its connection is lost, and misses nothing. */
export interface Talk {
  /** Everything that happens, in order. Ends when the talk is over. For one reader. */
  readonly events: AsyncIterable<TalkEvent>;
  /** Resolves when the first session is open and the devices that were asked for are; rejects where none comes. */
  readonly opened: Promise<Session>;
  /** A reply sounds, or is about to. */
  readonly isPlaying: boolean;
  /** Replies can be heard: there is a loudspeaker, and it is not withheld. */
  readonly isAudible: boolean;
  /** The server is at work on a reply. */
  readonly isAnswering: boolean;
  /** Sends an event, now or when the connection is back. False where there is no session to send it to. */
  send(event: ClientEvent): boolean;
  /** Says something in writing, and asks for an answer. It interrupts, as speech does. */
  say(text: string): boolean;
  /** Sends sound of the user: 16-bit little-endian mono PCM at 24 kHz. */
  sendAudio(pcm16: ArrayBuffer | ArrayBufferView<ArrayBuffer>): boolean;
  /** Stops the reply, and tells the server how much of it was heard. */
  interrupt(): Promise<void>;
  /** For those who play replies themselves: how many samples of a response have been played. */
  heard(responseId: string, samples: number): void;
  /** Does not wait for the back-off to end; a connection that seems open is made anew. */
  reconnect(): void;
  close(): void;
}

/** The first session could not be had; `code` is the server's, or `connection_refused`, `replaced` or `closed`. */
export declare class TalkError extends Error {
  readonly code: string;
  constructor(code: string, message: string);
}

/**
 * Opens a talk with a character. It comes back by itself when its connection is lost: what both sides said meanwhile is
 * delivered then, once and in order.
 */
export declare function openTalk(options: TalkOptions): Talk;
