import { EventEmitter } from 'node:events';
import type { WebSocket } from 'ws';
import type { TalkSocket } from '../../server/client/types/api.d.ts';
import { fairWeather, Pipe, type Piece, type NetworkConditions } from './pipe.ts';
import type { Scheduler } from './scheduler.ts';

const CONNECTING = 0;
const OPEN = 1;
const CLOSING = 2;
const CLOSED = 3;
/** RFC 6455 §7.4.1: the connection broke. */
const broken = 1006;
/** Time that `ws` waits for the answer to its close frame. */
const closeTimeoutMs = 30_000;
/** Time after which an unanswered connection attempt fails. */
const refusedMs = 20;

interface Ends {
  readonly scheduler: Scheduler;
  readonly weather: NetworkConditions;
  /** Serves the connection, as the real server does with a socket of `ws`. */
  readonly serve: (socket: WebSocket, url: URL) => void;
  /** Called with every piece that reaches the client. */
  readonly onPiece: (piece: Piece) => void;
  readonly isDown: () => boolean;
}

/** The network of one person's client: connection attempts, network conditions, outages. */
export class Network {
  readonly weather: NetworkConditions;
  readonly #ends: Ends;
  readonly #wires = new Set<Wire>();
  #isDown = false;
  /** True while nothing passes over the connections that existed when the freeze began. */
  isFrozen = false;

  constructor(parts: Omit<Ends, 'weather' | 'isDown'>, weather: Partial<NetworkConditions> = {}) {
    this.weather = { ...fairWeather, ...weather };
    this.#ends = { ...parts, weather: this.weather, isDown: () => this.#isDown };
  }

  get isDown(): boolean {
    return this.#isDown;
  }

  /** The WebSocket class for the client. */
  get WebSocket(): new (url: string | URL, protocols: string[]) => TalkSocket {
    const dial = (url: string | URL, protocols: readonly string[]): TalkSocket => {
      const asked = new URL(url);
      // The real server takes the token out of the handshake before it serves the socket.
      const token = protocols.find((one) => one.startsWith('dramatis-resume.'))?.slice('dramatis-resume.'.length);
      if (token !== undefined) asked.searchParams.set('resume', token);
      const wire: Wire = new Wire(this.#ends, asked, () => this.#wires.delete(wire));
      this.#wires.add(wire);
      return wire.client;
    };
    return function dialled(url: string | URL, protocols: readonly string[]) {
      return dial(url, protocols);
    } as unknown as new (url: string | URL, protocols: string[]) => TalkSocket;
  }

  /** Breaks every connection: both sides are told, and data in flight is lost. New ones fail for `downMs`. */
  cut(downMs = 0): void {
    for (const wire of this.#wires) wire.breakDown();
    if (downMs === 0) return;
    this.#isDown = true;
    if (downMs < Infinity) this.#ends.scheduler.after(downMs, () => (this.#isDown = false));
  }

  /** Stops all data on the current connections without telling either side; new ones are not affected. */
  freeze(isFrozen: boolean): void {
    this.isFrozen = isFrozen;
    for (const wire of this.#wires) wire.freeze(isFrozen);
  }
}

/** One connection: a client's end, a server's end, and a pipe each way. */
class Wire {
  readonly client: ClientEnd;
  readonly #server: ServerEnd;
  readonly #up: Pipe;
  readonly #down: Pipe;
  readonly #ends: Ends;
  readonly #onGone: () => void;

  constructor(ends: Ends, url: URL, onGone: () => void) {
    const { scheduler, weather } = ends;
    this.#ends = ends;
    this.#onGone = onGone;
    this.#up = new Pipe(scheduler, weather, (piece) => this.#server.take(piece));
    this.#down = new Pipe(scheduler, weather, (piece) => {
      ends.onPiece(piece);
      this.client.take(piece);
    });
    this.client = new ClientEnd(this.#up);
    this.#server = new ServerEnd(scheduler, this.#down, this.#up, () => this.breakDown());
    // One round trip for TCP, and one way for the upgrade request.
    scheduler.after(3 * weather.latencyMs + refusedMs, () => this.#accept(url));
  }

  breakDown(): void {
    this.#up.die();
    this.#down.die();
    this.#onGone();
    this.#ends.scheduler.after(0, () => {
      this.client.gone(broken);
      this.#server.gone(broken);
    });
  }

  freeze(isFrozen: boolean): void {
    this.#up.freeze(isFrozen);
    this.#down.freeze(isFrozen);
  }

  #accept(url: URL): void {
    if (this.#ends.isDown()) {
      this.#onGone();
      return this.client.gone(broken);
    }
    const isWanted = this.client.readyState === CONNECTING;
    this.#server.open();
    this.#ends.serve(this.#server as unknown as WebSocket, url);
    if (isWanted) this.#ends.scheduler.after(this.#ends.weather.latencyMs, () => this.client.opened());
    // The client gave up while connecting, and the server does not know yet.
    else this.#ends.scheduler.after(this.#ends.weather.latencyMs, () => this.breakDown());
  }
}

/** A browser's WebSocket. */
class ClientEnd implements TalkSocket {
  binaryType = 'arraybuffer';
  readyState = CONNECTING;
  onopen: TalkSocket['onopen'] = null;
  onmessage: TalkSocket['onmessage'] = null;
  onclose: TalkSocket['onclose'] = null;
  onerror: TalkSocket['onerror'] = null;
  readonly #up: Pipe;

  constructor(up: Pipe) {
    this.#up = up;
  }

  get bufferedAmount(): number {
    return this.#up.bufferedBytes;
  }

  send(data: string | Uint8Array<ArrayBuffer>): void {
    if (this.readyState !== OPEN) return;
    this.#up.send(typeof data === 'string' ? { type: 'text', data } : { type: 'binary', data });
  }

  close(code = 1000): void {
    if (this.readyState === OPEN) this.#up.send({ type: 'close', code });
    if (this.readyState !== CLOSED) this.readyState = CLOSING;
  }

  opened(): void {
    if (this.readyState !== CONNECTING) return;
    this.readyState = OPEN;
    this.onopen?.(undefined as never);
  }

  gone(code: number): void {
    if (this.readyState === CLOSED) return;
    this.readyState = CLOSED;
    this.onclose?.({ code } as never);
  }

  take(piece: Piece): void {
    if (this.readyState === CLOSED) return;
    // The answer to the upgrade and the first frame may arrive together.
    this.opened();
    if (piece.type === 'text') this.onmessage?.({ data: piece.data } as never);
    else if (piece.type === 'binary') this.onmessage?.({ data: bufferOf(piece.data) } as never);
    else if (piece.type === 'ping') this.#up.send({ ...piece, type: 'pong' });
    else if (piece.type === 'close') {
      this.#up.send(piece);
      this.gone(piece.code);
    }
  }
}

/** The part of a `ws` WebSocket that the server uses. */
class ServerEnd {
  readonly OPEN = OPEN;
  readyState = CONNECTING;
  readonly #scheduler: Scheduler;
  readonly #down: Pipe;
  readonly #up: Pipe;
  readonly #breakDown: () => void;
  readonly #events = new EventEmitter();
  #waitOn: () => void = () => undefined;

  constructor(scheduler: Scheduler, down: Pipe, up: Pipe, breakDown: () => void) {
    this.#scheduler = scheduler;
    this.#down = down;
    this.#up = up;
    this.#breakDown = breakDown;
  }

  get bufferedAmount(): number {
    return this.#down.bufferedBytes;
  }

  on(event: string, listener: (...args: unknown[]) => void): this {
    this.#events.on(event, listener);
    return this;
  }

  once(event: string, listener: (...args: unknown[]) => void): this {
    this.#events.once(event, listener);
    return this;
  }

  open(): void {
    this.readyState = OPEN;
  }

  send(data: string | Buffer, ...rest: [(() => void)?] | [{ binary?: boolean }, (() => void)?]): void {
    const [first, second] = rest;
    const [options, onSent] = typeof first === 'function' ? [{}, first] : [first, second];
    const isText = typeof data === 'string' || options?.binary === false;
    // Once sent, its buffer may be reused.
    const piece = isText ? ({ type: 'text', data: String(data) } as const) : ({ type: 'binary', data } as const);
    this.#down.send(piece, onSent);
  }

  off(event: string, listener: (...args: unknown[]) => void): this {
    this.#events.off(event, listener);
    return this;
  }

  ping(name = ''): void {
    this.#down.send({ type: 'ping', name });
  }

  pause(): void {
    this.#up.pause(true);
  }

  resume(): void {
    this.#up.pause(false);
  }

  close(code: number): void {
    if (this.readyState !== OPEN) return;
    this.readyState = CLOSING;
    this.#down.send({ type: 'close', code });
    this.#waitOn = this.#scheduler.after(closeTimeoutMs, () => this.#breakDown());
  }

  terminate(): void {
    this.#breakDown();
  }

  gone(code: number): void {
    if (this.readyState === CLOSED) return;
    const wasServed = this.readyState !== CONNECTING;
    this.readyState = CLOSED;
    this.#waitOn();
    if (wasServed) this.#events.emit('close', code);
  }

  take(piece: Piece): void {
    if (this.readyState === CLOSED) return;
    if (piece.type === 'text') this.#events.emit('message', Buffer.from(piece.data), false);
    else if (piece.type === 'binary') this.#events.emit('message', Buffer.from(bufferOf(piece.data)), true);
    else if (piece.type === 'pong') this.#events.emit('pong', Buffer.from(piece.name));
    else if (piece.type === 'close') {
      if (this.readyState === OPEN) this.#down.send(piece);
      this.gone(piece.code);
    }
  }
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): ArrayBuffer {
  const isWhole = byteOffset === 0 && byteLength === buffer.byteLength;
  return (isWhole ? buffer : buffer.slice(byteOffset, byteOffset + byteLength)) as ArrayBuffer;
}
