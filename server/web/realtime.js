/**
 * What this page reads of a server event (OpenAI Realtime, GA). Any field but `type` may be absent.
 *
 * @typedef {object} ServerEvent
 * @property {string} type
 * @property {string} [item_id]
 * @property {string} [response_id]
 * @property {string} [delta]
 * @property {string} [transcript]
 * @property {ServerError} [error]
 * @property {{ id: string, type?: string, role?: string }} [item]
 * @property {ServerResponse} [response]
 * @property {ServerSession} [session]
 * @property {{ text?: string, start_ms?: number | null, words?: readonly { text: string, start_ms: number }[] }} [x_dramatis]
 *   `text`: all that was understood so far. `words`: the delta in pieces, and when each sounds within its item
 */

/** @typedef {{ code?: string | null, message?: string, event_id?: string | null }} ServerError */

/**
 * @typedef {object} ServerResponse
 * @property {string} id
 * @property {string} [status]
 * @property {{ type?: string, reason?: string, error?: ServerError } | null} [status_details]
 * @property {{ mind?: { name: string, because?: string } | null, latency?: import('./latency.js').Latency }} [x_dramatis]
 */

/**
 * @typedef {object} ServerSession
 * @property {{ greeting?: string | null, engines?: Record<string, string> }} [x_dramatis]
 */

/**
 * How the connection stands. `open`: the server has sent its session. `lost`: it will be tried again in `retryInMs`, or is
 * being tried (0). `refused`: trying again is pointless before something changes, such as the key; `error` is what the
 * server said before, if it said anything.
 *
 * @typedef {{ status: 'connecting' | 'closed' } | { status: 'open', session: ServerSession }
 *   | { status: 'lost', retryInMs: number, isBusy: boolean } | { status: 'refused', error?: ServerError | undefined }} ConnectionStatus
 */

const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 8_000;
const OPEN_PATIENCE_MS = 10_000;
/** Close codes: policy violation, and the registered "unauthorized" and "forbidden". */
const REFUSALS = new Set([1008, 3000, 3003]);
const TRY_AGAIN_LATER = 1013;

/**
 * @param {string} model the character's id
 * @param {string} key the empty string where the server needs none
 * @returns {WebSocket}
 */
export function openSocket(model, key) {
  const url = new URL(`/v1/realtime?model=${encodeURIComponent(model)}`, location.href);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  // A browser cannot set headers on a WebSocket, so the key travels as a subprotocol.
  return new WebSocket(url, key === '' ? ['realtime'] : ['realtime', `openai-insecure-api-key.${key}`]);
}

/** A connection that comes back: lost, it tries again after 0.5 s, then ever later, up to 8 s. */
export class Connection {
  #options;
  /** @type {WebSocket | undefined} */
  #socket;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #retryMs = FIRST_RETRY_MS;
  #isRetry = false;
  /** The last the server said was wrong. @type {ServerEvent['error']} */
  #error;

  /**
   * @param {object} options
   * @param {() => WebSocket} options.dial
   * @param {() => Promise<'away' | 'busy' | 'well'>} options.diagnose how the server is; asked when it turns away a new
   *   connection, because a browser does not say why
   * @param {(event: ServerEvent) => void} options.onEvent
   * @param {(status: ConnectionStatus) => void} options.onStatus
   */
  constructor(options) {
    this.#options = options;
  }

  open() {
    this.#isRetry = false;
    this.#retryMs = FIRST_RETRY_MS;
    this.#options.onStatus({ status: 'connecting' });
    this.#dial();
  }

  /** Does not wait for the back-off to end. */
  retryNow() {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#redial();
  }

  /**
   * @param {Readonly<Record<string, unknown>>} event
   * @returns {boolean} false where there is no connection to send it on
   */
  send(event) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(JSON.stringify(event));
    return true;
  }

  close() {
    this.#drop();
    this.#options.onStatus({ status: 'closed' });
  }

  #drop() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.close();
  }

  #redial() {
    this.#timer = undefined;
    this.#options.onStatus({ status: 'lost', retryInMs: 0, isBusy: false });
    this.#dial();
  }

  #dial() {
    /** @type {WebSocket} */
    let socket;
    try {
      socket = this.#options.dial();
    } catch {
      // The key holds characters that a subprotocol cannot.
      this.#options.onStatus({ status: 'refused' });
      return;
    }
    this.#socket = socket;
    this.#error = undefined;
    let hasOpened = false;
    const impatience = setTimeout(() => socket.close(), OPEN_PATIENCE_MS);
    socket.onopen = () => {
      hasOpened = true;
    };
    socket.onmessage = ({ data }) => {
      if (socket !== this.#socket) return;
      const event = parse(data);
      if (event?.type === 'session.created') clearTimeout(impatience);
      if (event !== undefined) this.#receive(event);
    };
    socket.onclose = ({ code }) => {
      clearTimeout(impatience);
      if (socket === this.#socket) void this.#lose(socket, code, hasOpened);
    };
  }

  /** @param {ServerEvent} event */
  #receive(event) {
    if (event.type === 'session.created') {
      this.#isRetry = true;
      this.#retryMs = FIRST_RETRY_MS;
      this.#options.onStatus({ status: 'open', session: event.session ?? {} });
    }
    this.#options.onEvent(event);
    if (event.type === 'error') this.#error = event.error;
  }

  /**
   * @param {WebSocket} socket
   * @param {number} code
   * @param {boolean} hasOpened
   */
  async #lose(socket, code, hasOpened) {
    const health = hasOpened ? 'well' : await this.#options.diagnose();
    if (socket !== this.#socket) return;
    if (REFUSALS.has(code) || (!hasOpened && !this.#isRetry && health === 'well')) {
      this.#refuse();
      return;
    }
    this.#socket = undefined;
    const retryInMs = this.#retryMs;
    this.#retryMs = Math.min(LAST_RETRY_MS, retryInMs * 2);
    this.#timer = setTimeout(() => this.#redial(), retryInMs);
    this.#options.onStatus({ status: 'lost', retryInMs, isBusy: health === 'busy' || code === TRY_AGAIN_LATER });
  }

  #refuse() {
    this.#drop();
    this.#options.onStatus({ status: 'refused', error: this.#error });
  }
}

/**
 * @param {unknown} data
 * @returns {ServerEvent | undefined}
 */
function parse(data) {
  if (typeof data !== 'string') return undefined;
  /** @type {unknown} */
  const event = JSON.parse(data);
  const isEvent = typeof event === 'object' && event !== null && 'type' in event && typeof event.type === 'string';
  return isEvent ? /** @type {ServerEvent} */ (event) : undefined;
}
