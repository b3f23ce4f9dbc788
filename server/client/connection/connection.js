import { BackOff } from './back-off.js';
import { platformClock } from './clock.js';

/** @import { ConnectionEvent, ServerError, TalkClock, TalkSocket } from '../types/api.d.ts' */

const OPEN_PATIENCE_MS = 10_000;
/** `WebSocket.OPEN` and `WebSocket.CLOSED`; a custom class may lack the constants. */
const OPEN = 1;
const CLOSED = 3;
/** Close codes: policy violation, and the registered "unauthorized" and "forbidden". */
const REFUSALS = new Set([1008, 3000, 3003]);
/** The server is stopping or full: an immediate retry would not help. */
const GOING_AWAY = 1001;
const TRY_AGAIN_LATER = 1013;
/**
 * Private close codes. Client to server: this socket is abandoned, the session is not. Server to client: another socket
 * has resumed the session.
 */
const GIVEN_UP = 4000;
const REPLACED = 4001;
/** Server to client: another node takes the session over, and can do so at once. */
const MOVED = 4002;
/** Client to server: the session is over. */
const NORMAL = 1000;

/**
 * A reconnecting socket: redials at once after a loss, then with exponential back-off. Knows nothing of the payload,
 * except that its owner reports when the server has answered (`establish`).
 */
export class Connection {
  #options;
  #clock;
  #backOff;
  /** @type {TalkSocket | undefined} */
  #socket;
  /** Cancels the next attempt. */
  #cancelRetry = () => {};
  /** Cancels the timeout of the current attempt. */
  #cancelTimeout = () => {};
  /** True from `open` until closed by either side for good. */
  #isWanted = false;
  /** The server has answered on this socket (`is`), on any socket (`was`). */
  #isEstablished = false;
  #wasEstablished = false;
  /** The socket has carried data: if it breaks, an immediate retry is worthwhile. */
  #isProven = false;
  /** Sockets abandoned before they opened. The server may still see one of them open, and mistake it for the latest. */
  #strays = 0;
  /** Last error from the server. @type {ServerError | undefined} */
  #error;

  /**
   * @param {object} options
   * @param {() => TalkSocket} options.dial
   * @param {() => Promise<'away' | 'busy' | 'well'>} options.diagnose health of the server; checked
   *   when it rejects a new connection
   * @param {(data: string | Uint8Array<ArrayBuffer>) => void} options.onFrame
   * @param {(event: ConnectionEvent) => void} options.onStatus every status except
   *   `connection.open`, which the owner sends
   * @param {TalkClock} [options.clock]
   */
  constructor({ clock = platformClock, ...options }) {
    this.#options = options;
    this.#clock = clock;
    this.#backOff = new BackOff(() => clock.random());
  }

  open() {
    this.#isWanted = true;
    this.#options.onStatus({ type: 'connection.connecting' });
    this.#dial();
  }

  /** Notes that the server has answered. */
  establish() {
    this.#cancelTimeout();
    this.#isEstablished = true;
    this.#wasEstablished = true;
  }

  /** Notes that data other than the first answer got through, in either direction. */
  noteTraffic() {
    if (this.#isProven) return;
    this.#isProven = true;
    this.#backOff.reset();
  }

  /** @param {ServerError} error error from the server; reported if it then closes the connection */
  noteError(error) {
    this.#error = error;
  }

  get bufferedBytes() {
    return this.#socket?.bufferedAmount ?? 0;
  }

  /** @param {string | Uint8Array<ArrayBuffer>} data */
  send(data) {
    if (this.#socket?.readyState === OPEN) this.#socket.send(data);
  }

  /** Reconnects at once, in any state of the current socket. */
  redial() {
    if (!this.#isWanted) return;
    this.#drop(GIVEN_UP);
    this.#options.onStatus(this.#lost(0, false));
    this.#dial();
  }

  close() {
    if (!this.#isWanted) return;
    this.#drop(NORMAL);
    this.#end({ type: 'connection.closed' });
  }

  /** @param {ConnectionEvent} status */
  #end(status) {
    this.#isWanted = false;
    this.#options.onStatus(status);
  }

  /** @param {number} code close code for the server */
  #drop(code) {
    const socket = this.#socket;
    this.#cancelRetry();
    this.#cancelTimeout();
    this.#socket = undefined;
    if (socket === undefined || socket.readyState === CLOSED) return;
    if (!this.#isEstablished) this.#strays += 1;
    socket.onmessage = null;
    socket.onclose = null;
    socket.close(code);
  }

  #dial() {
    // The owner may have closed it in response to `connection.lost`.
    if (!this.#isWanted) return;
    /** @type {TalkSocket} */
    let socket;
    try {
      socket = this.#options.dial();
    } catch {
      this.#end({ type: 'connection.refused', error: undefined });
      return;
    }
    this.#socket = socket;
    this.#isEstablished = false;
    this.#isProven = false;
    this.#error = undefined;
    let hasOpened = false;
    this.#cancelTimeout = this.#clock.after(OPEN_PATIENCE_MS, () => {
      if (socket === this.#socket) void this.#lose(socket, 0, false);
    });
    socket.onopen = () => {
      hasOpened = true;
    };
    socket.onmessage = (/** @type {{ data: string | ArrayBuffer }} */ { data }) => {
      if (this.#isEstablished) this.noteTraffic();
      this.#options.onFrame(typeof data === 'string' ? data : new Uint8Array(data));
    };
    socket.onclose = (/** @type {{ code: number }} */ { code }) => void this.#lose(socket, code, hasOpened);
    // The close event that follows has the reason; some implementations throw without a listener.
    socket.onerror = () => {};
  }

  /**
   * @param {TalkSocket} socket
   * @param {number} code close code; 0: it did not open in time
   * @param {boolean} hasOpened
   */
  async #lose(socket, code, hasOpened) {
    if (socket !== this.#socket) return;
    this.#cancelTimeout();
    const health = hasOpened ? 'well' : await this.#options.diagnose();
    if (socket !== this.#socket) return;
    this.#drop(GIVEN_UP);
    if (REFUSALS.has(code) || (code !== 0 && !hasOpened && !this.#wasEstablished && health === 'well')) {
      this.#end({ type: 'connection.refused', error: this.#error });
      return;
    }
    if (code === REPLACED && this.#strays === 0) {
      this.#end({ type: 'connection.replaced' });
      return;
    }
    if (code === REPLACED) this.#strays = 0;
    const isSudden = code === MOVED || (this.#isProven && code !== GOING_AWAY && code !== TRY_AGAIN_LATER);
    const retryInMs = this.#backOff.next(isSudden);
    const isBusy = health === 'busy' || code === TRY_AGAIN_LATER;
    this.#options.onStatus(this.#lost(retryInMs, isBusy));
    if (retryInMs === 0) this.#dial();
    else this.#cancelRetry = this.#clock.after(retryInMs, () => this.redial());
  }

  /**
   * @param {number} retryInMs
   * @param {boolean} isBusy
   * @returns {ConnectionEvent}
   */
  #lost(retryInMs, isBusy) {
    return { type: 'connection.lost', attempt: this.#backOff.attempts, retryInMs, isBusy };
  }
}
