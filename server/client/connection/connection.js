import { BackOff } from './back-off.js';
import { platformClock } from './clock.js';

/** @import { ConnectionEvent, ServerError, TalkClock, TalkSocket } from '../types/api.d.ts' */

const OPEN_PATIENCE_MS = 10_000;
/** `WebSocket.OPEN` and `WebSocket.CLOSED`, which a class that was passed in may not have. */
const OPEN = 1;
const CLOSED = 3;
/** Close codes: policy violation, and the registered "unauthorized" and "forbidden". */
const REFUSALS = new Set([1008, 3000, 3003]);
/** The server stops, or is full: it will not be better at once. */
const GOING_AWAY = 1001;
const TRY_AGAIN_LATER = 1013;
/** Ours, to the server: this socket is given up, the session is not. From the server: another socket goes on with it. */
const GIVEN_UP = 4000;
const REPLACED = 4001;
/** To the server: the session is over. */
const NORMAL = 1000;

/**
 * A connection that comes back: a broken one is dialled again at once, then ever later. Knows nothing of what it carries,
 * except that its owner tells when the other side has answered (`establish`).
 */
export class Connection {
  #options;
  #clock;
  #backOff;
  /** @type {TalkSocket | undefined} */
  #socket;
  /** Calls off the next attempt. */
  #stay = () => {};
  /** Goes on waiting for the attempt that is under way. */
  #bear = () => {};
  /** From `open` until it is closed, here or for good by the other side. */
  #isWanted = false;
  /** The other side has answered on this socket; on any socket. */
  #isEstablished = false;
  #wasEstablished = false;
  /** It carries something: where it breaks, it is worth dialling again at once. */
  #isProven = false;
  /** Sockets given up before they had opened. The server may see one of them open after all, and take it for the latest. */
  #strays = 0;
  /** The last the server said was wrong. @type {ServerError | undefined} */
  #error;

  /**
   * @param {object} options
   * @param {() => TalkSocket} options.dial
   * @param {() => Promise<'away' | 'busy' | 'well'>} options.diagnose how the server is; asked when it turns away a new
   *   connection
   * @param {(data: string | Uint8Array<ArrayBuffer>) => void} options.onFrame
   * @param {(event: ConnectionEvent) => void} options.onStatus anything but `connection.open`, which the owner knows
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

  /** The other side has answered. */
  establish() {
    this.#bear();
    this.#isEstablished = true;
    this.#wasEstablished = true;
  }

  /** Something other than the answer came, or is known to have arrived. */
  prove() {
    if (this.#isProven) return;
    this.#isProven = true;
    this.#backOff.reset();
  }

  /** @param {ServerError} error what the other side says is wrong; told where it then hangs up */
  blame(error) {
    this.#error = error;
  }

  /** Bytes that wait to leave. */
  get bufferedBytes() {
    return this.#socket?.bufferedAmount ?? 0;
  }

  /** @param {string | Uint8Array<ArrayBuffer>} data */
  send(data) {
    if (this.#socket?.readyState === OPEN) this.#socket.send(data);
  }

  /** Dials anew at once, whatever became of the socket before. */
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

  /** @param {number} code told to the other side */
  #drop(code) {
    const socket = this.#socket;
    this.#stay();
    this.#bear();
    this.#socket = undefined;
    if (socket === undefined || socket.readyState === CLOSED) return;
    if (!this.#isEstablished) this.#strays += 1;
    socket.onmessage = null;
    socket.onclose = null;
    socket.close(code);
  }

  #dial() {
    // Whoever was told that the connection is lost may have had enough of it.
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
    this.#bear = this.#clock.after(OPEN_PATIENCE_MS, () => {
      if (socket === this.#socket) void this.#lose(socket, 0, false);
    });
    socket.onopen = () => {
      hasOpened = true;
    };
    socket.onmessage = (/** @type {{ data: string | ArrayBuffer }} */ { data }) => {
      if (this.#isEstablished) this.prove();
      this.#options.onFrame(typeof data === 'string' ? data : new Uint8Array(data));
    };
    socket.onclose = (/** @type {{ code: number }} */ { code }) => void this.#lose(socket, code, hasOpened);
    // What went wrong shows in the close that follows; without a listener, some sockets throw.
    socket.onerror = () => {};
  }

  /**
   * @param {TalkSocket} socket
   * @param {number} code 0: it did not open in time
   * @param {boolean} hasOpened
   */
  async #lose(socket, code, hasOpened) {
    if (socket !== this.#socket) return;
    this.#bear();
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
    const isSudden = this.#isProven && code !== GOING_AWAY && code !== TRY_AGAIN_LATER;
    const retryInMs = this.#backOff.next(isSudden);
    const isBusy = health === 'busy' || code === TRY_AGAIN_LATER;
    this.#options.onStatus(this.#lost(retryInMs, isBusy));
    if (retryInMs === 0) this.#dial();
    else this.#stay = this.#clock.after(retryInMs, () => this.redial());
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
