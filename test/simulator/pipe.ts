import type { Scheduler } from './scheduler.ts';

/** Network conditions. All can be changed while it runs. */
export interface NetworkConditions {
  /** One-way delay. */
  latencyMs: number;
  /** Maximum random extra delay of each piece. Pieces never overtake each other. */
  jitterMs: number;
  /** Share of pieces that are lost at first; later ones wait until they were sent again. */
  lossShare: number;
  /** In each direction; Infinity: no limit. */
  bytesPerSecond: number;
}

export const fairWeather: NetworkConditions = { latencyMs: 20, jitterMs: 0, lossShare: 0, bytesPerSecond: Infinity };

/** Delay until a lost piece is sent again: Linux's minimum, plus a margin. */
const resendMs = 220;
/** Bytes sent but not read by the other side; beyond this, pieces wait at the sender. */
const windowBytes = 256 * 1024;

/** A piece of data on a connection. */
export type Piece =
  | { readonly type: 'text'; readonly data: string }
  | { readonly type: 'binary'; readonly data: Uint8Array }
  | { readonly type: 'ping' | 'pong'; readonly name: string }
  | { readonly type: 'close'; readonly code: number };

interface Waiting {
  readonly piece: Piece;
  readonly bytes: number;
  readonly onSent: (() => void) | undefined;
}

/** One direction of a connection: pieces arrive in order, once each, delayed by the network conditions. */
export class Pipe {
  readonly #scheduler: Scheduler;
  readonly #weather: NetworkConditions;
  readonly #deliver: (piece: Piece) => void;
  readonly #unsent: Waiting[] = [];
  /** Arrived, but not read. */
  readonly #unread: Waiting[] = [];
  #bufferedBytes = 0;
  #outstandingBytes = 0;
  #lastArrivalMs = 0;
  #isSending = false;
  #isFrozen = false;
  #isPaused = false;
  #isDead = false;

  constructor(scheduler: Scheduler, weather: NetworkConditions, deliver: (piece: Piece) => void) {
    this.#scheduler = scheduler;
    this.#weather = weather;
    this.#deliver = deliver;
  }

  /** Bytes that have not left the sender. */
  get bufferedBytes(): number {
    return this.#bufferedBytes;
  }

  send(piece: Piece, onSent?: () => void): void {
    if (this.#isDead) return;
    const bytes = 'data' in piece ? piece.data.length : 4;
    this.#bufferedBytes += bytes;
    this.#unsent.push({ piece, bytes, onSent });
    this.#pump();
  }

  /** Stops or resumes reading at the receiver. */
  pause(isPaused: boolean): void {
    this.#isPaused = isPaused;
    this.#read();
  }

  /** Stops or resumes the data without telling either side. */
  freeze(isFrozen: boolean): void {
    this.#isFrozen = isFrozen;
    this.#read();
    this.#pump();
  }

  /** Breaks the pipe: data in flight is lost, and nothing passes any more. */
  die(): void {
    this.#isDead = true;
    this.#unsent.length = 0;
    this.#unread.length = 0;
  }

  #pump(): void {
    while (!this.#isSending && !this.#isFrozen && this.#outstandingBytes < windowBytes) {
      const next = this.#unsent.shift();
      if (next === undefined) return;
      const { bytesPerSecond } = this.#weather;
      if (bytesPerSecond === Infinity) this.#sent(next);
      else {
        this.#isSending = true;
        this.#scheduler.after((next.bytes / bytesPerSecond) * 1000, () => {
          this.#isSending = false;
          if (this.#isDead) return;
          this.#sent(next);
          this.#pump();
        });
      }
    }
  }

  #sent(waiting: Waiting): void {
    const { latencyMs, jitterMs, lossShare } = this.#weather;
    const now = this.#scheduler.now();
    const isLost = lossShare > 0 && this.#scheduler.random() < lossShare;
    const delayMs = latencyMs + (jitterMs > 0 ? jitterMs * this.#scheduler.random() : 0) + (isLost ? resendMs : 0);
    this.#bufferedBytes -= waiting.bytes;
    this.#outstandingBytes += waiting.bytes;
    this.#lastArrivalMs = Math.max(this.#lastArrivalMs, now + delayMs);
    this.#scheduler.after(this.#lastArrivalMs - now, () => {
      if (this.#isDead) return;
      this.#unread.push(waiting);
      this.#read();
    });
    if (waiting.onSent !== undefined) queueMicrotask(waiting.onSent);
  }

  #read(): void {
    while (!this.#isPaused && !this.#isFrozen) {
      const next = this.#unread.shift();
      if (next === undefined) break;
      this.#outstandingBytes -= next.bytes;
      this.#deliver(next.piece);
    }
    this.#pump();
  }
}
