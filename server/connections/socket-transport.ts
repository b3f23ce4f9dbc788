import { performance, type EventLoopUtilization } from 'node:perf_hooks';
import type { RawData, WebSocket } from 'ws';
import { limits } from '../limits/limits.ts';
import { limits as protocolLimits } from '../protocol/limits.ts';
import { systemClock, type Clock } from '../session/contract/clock.ts';

export type CloseReason = 'ended' | 'client_too_slow' | 'server_stopping' | 'moved' | 'session_expired';

/** A transport to the client: one live connection that carries frames. */
export interface Transport {
  /** Returns false if the frame was not accepted because the client does not read. */
  send(frame: string | Uint8Array): boolean;
  /** Asks the client for a response that arrives after everything it has sent so far. */
  probe(answered: () => void): void;
  /** Called when there is room again after `send` returned false; a transport may also wait for the next frame. */
  onRoom?: () => void;
  /** Closes the transport because another replaced it, or because the session has ended. */
  close(reason: 'replaced' | CloseReason): void;
}

/** WebSocket close codes by reason (RFC 6455 §7.4.1; 1013 from the IANA registry; 4000 and up are private). */
export const closeCodes = {
  ended: 1000,
  server_stopping: 1001,
  session_expired: 1001,
  policy: 1008,
  tryLater: 1013,
  replaced: 4001,
  moved: 4002,
} as const;

/** Unsent bytes at which reading from a slow client stops, and at which it continues. */
const pauseBytes = 512 * 1024;

const resumeBytes = 128 * 1024;

const pingMs = 25_000;

/** The part of a socket that a transport uses. */
type CarrierSocket = Pick<
  WebSocket,
  'send' | 'close' | 'terminate' | 'pause' | 'resume' | 'ping' | 'on' | 'off' | 'bufferedAmount' | 'readyState' | 'OPEN'
>;

/**
 * A WebSocket as a transport. Pauses reading from a client that falls behind, and from one that sends more than talks
 * need while the server is busy; disconnects one that does not read at all. Takes a frame of any size while at most
 * `protocolLimits.unsentBytes` are unsent.
 */
export function socketTransport(
  socket: CarrierSocket,
  clock: Clock = systemClock,
  reading = new FairReading(() => clock.now()),
): Transport {
  let paused = false;
  let full = false;
  const inTurn = readInTurn(socket, clock, reading, () => void (!paused && socket.resume()));
  const catchUp = (): void => {
    if (socket.bufferedAmount > resumeBytes) return;
    if (full) {
      full = false;
      carrier.onRoom?.();
    }
    if (!paused || socket.bufferedAmount > resumeBytes) return;
    paused = false;
    if (!inTurn.isWaiting()) socket.resume();
  };
  const carrier: Transport = {
    send(frame) {
      if (socket.readyState !== socket.OPEN) return true;
      if (socket.bufferedAmount > protocolLimits.unsentBytes) {
        full = true;
        return false;
      }
      const buffer = typeof frame === 'string' ? frameBufferOf(frame) : undefined;
      if (buffer === undefined) socket.send(frame, catchUp);
      else {
        socket.send(buffer.bytes, { binary: false }, () => {
          buffer.release();
          catchUp();
        });
      }
      if (!paused && socket.bufferedAmount > pauseBytes) {
        paused = true;
        socket.pause();
      }
      return true;
    },
    probe: proberOf(socket),
    close(reason) {
      // A client that does not read would not read a close frame either.
      if (reason === 'client_too_slow') return socket.terminate();
      // Reading must go on to get the answer to the close frame.
      const isWaiting = inTurn.isWaiting();
      inTurn.stop();
      if (paused || isWaiting) socket.resume();
      socket.close(closeCodes[reason], reason);
    },
  };
  return carrier;
}

/** Pauses reading while `reading` says so, then calls `resume`; no longer after `stop`. */
function readInTurn(
  socket: Pick<WebSocket, 'on' | 'pause'>,
  clock: Clock,
  reading: FairReading,
  resume: () => void,
): { isWaiting(): boolean; stop(): void } {
  let stopWaiting: (() => void) | undefined;
  let stopped = false;
  const wait = (): void => {
    const { waitMs } = reading;
    stopWaiting = waitMs === 0 ? undefined : clock.after(waitMs, wait);
    if (stopWaiting === undefined) resume();
    else socket.pause();
  };
  socket.on('message', (data: RawData) => {
    reading.took(sizeOf(data));
    if (!stopped && stopWaiting === undefined && reading.waitMs > 0) wait();
  });
  const stop = (): void => {
    stopped = true;
    stopWaiting?.();
    stopWaiting = undefined;
  };
  socket.on('close', stop);
  return { isWaiting: () => stopWaiting !== undefined, stop };
}

/** A client is not read for longer than this at a time: the server may have time again. */
const longestWaitMs = 500;

/** Measures a client's input, so that one that sends more than talks need waits while the server has no time to spare. */
export class FairReading {
  readonly #now: () => number;
  readonly #isBusy: () => boolean;
  #bytes: number = limits.readBurstBytes.value;
  #frames: number = limits.readBurstFrames.value;
  #atMs: number;

  /** `now`: monotonic milliseconds. */
  constructor(now: () => number, isBusy: () => boolean = eventLoopIsBusy) {
    this.#now = now;
    this.#isBusy = isBusy;
    this.#atMs = now();
  }

  /** Counts a frame that was read. */
  took(bytes: number): void {
    this.#refill();
    // What was read while there was time is held against the client up to one burst.
    this.#bytes = Math.max(this.#bytes - bytes, -limits.readBurstBytes.value);
    this.#frames = Math.max(this.#frames - 1, -limits.readBurstFrames.value);
  }

  /** Milliseconds for which the client must not be read now; 0 if the server has time for it. Ask again after that. */
  get waitMs(): number {
    this.#refill();
    if ((this.#bytes >= 0 && this.#frames >= 0) || !this.#isBusy()) return 0;
    const { readBytesASecond, readFramesASecond } = limits;
    const owedSeconds = Math.max(-this.#bytes / readBytesASecond.value, -this.#frames / readFramesASecond.value);
    return Math.min(longestWaitMs, Math.ceil(owedSeconds * 1000));
  }

  #refill(): void {
    const nowMs = this.#now();
    const seconds = (nowMs - this.#atMs) / 1000;
    this.#atMs = nowMs;
    const { readBurstBytes, readBytesASecond, readBurstFrames, readFramesASecond } = limits;
    this.#bytes = Math.min(readBurstBytes.value, this.#bytes + seconds * readBytesASecond.value);
    this.#frames = Math.min(readBurstFrames.value, this.#frames + seconds * readFramesASecond.value);
  }
}

const measuredMs = 100;
/** Share of the time from which on the event loop counts as busy: at that load, waiting in line begins to dominate. */
const busyShare = 0.8;

let measured: EventLoopUtilization = performance.eventLoopUtilization();
let measuredAtMs = performance.now();
let wasBusy = false;

/** True if the event loop was at work for most of the latest period of at least 100 ms. */
function eventLoopIsBusy(): boolean {
  const nowMs = performance.now();
  if (nowMs - measuredAtMs >= measuredMs) {
    const present = performance.eventLoopUtilization();
    wasBusy = performance.eventLoopUtilization(present, measured).utilization > busyShare;
    measured = present;
    measuredAtMs = nowMs;
  }
  return wasBusy;
}

function sizeOf(data: RawData): number {
  return Array.isArray(data) ? data.reduce((sum, part) => sum + part.length, 0) : data.byteLength;
}

/** Sends pings with numbered payloads. Only the answer to the latest one is reported. */
function proberOf(
  socket: Pick<WebSocket, 'ping' | 'on' | 'off' | 'readyState' | 'OPEN'>,
): (answered: () => void) => void {
  let asked = 0;
  let onPong: ((data: Buffer) => void) | undefined;
  return (answered) => {
    if (socket.readyState !== socket.OPEN) return;
    asked += 1;
    const name = `probe ${asked}`;
    if (onPong !== undefined) socket.off('pong', onPong);
    onPong = (data) => void (data.toString() === name && answered());
    socket.on('pong', onPong);
    socket.ping(name);
  };
}

/** Pings the client, and terminates a connection that is silently dead. Stops when the socket closes. */
export function keepAlive(socket: WebSocket, clock: Clock = systemClock): void {
  let answered = true;
  const live = (): void => void (answered = true);
  // Any message counts, because a pong arrives late behind a lot of audio from the client.
  socket.on('pong', live).on('message', live);
  const rest = clock.every(pingMs, () => {
    if (!answered) return socket.terminate();
    answered = false;
    if (socket.readyState === socket.OPEN) socket.ping();
  });
  socket.once('close', rest);
}

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
 * Encodes a text as UTF-8 into a pooled buffer, reused after `release`: new buffers would be most of a server's
 * garbage, collected only with the old generation. Undefined if the text is too short for that, or too long.
 */
export function frameBufferOf(text: string): FrameBuffer | undefined {
  if (text.length < leastCharacters || Buffer.byteLength(text) > roomBytes) return undefined;
  const room = free.pop() ?? Buffer.from(new ArrayBuffer(roomBytes));
  return {
    bytes: room.subarray(0, room.write(text)),
    release: () => void (free.length < mostFree && free.push(room)),
  };
}
