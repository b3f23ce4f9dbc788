import { WebSocket } from 'ws';
import { EngineError, type CallOptions } from '../engine.ts';
import { Queue } from '../runtime/streams.ts';
import { brokenOff, connectionFault, statusFault, type Upstream } from './http-faults.ts';

export interface SocketRequest {
  /** `ws:` or `wss:`; `http:` and `https:` are mapped to them. */
  readonly url: string | URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly protocols?: readonly string[];
  /** Message to send as soon as the connection is open. */
  readonly greeting?: string;
  /** Meaning of a close code of the server, if it has one of its own. */
  readonly faultOfClose?: (code: number) => EngineError | undefined;
}

/** A WebSocket to an engine. Every failure is an `EngineError`; an abort throws `signal.reason`. */
export interface UpstreamSocket {
  /** False once the connection has ended, or is about to. */
  readonly isOpen: boolean;
  /** Sends a text frame, or bytes as a binary frame. Does nothing once the connection has ended: `receive` says why. */
  send(message: string | Uint8Array): void;
  /**
   * Returns the next message, text as a string; undefined once the server has closed the connection normally (1000,
   * 1001 or no code). With `limitMs`, fails with `ENGINE_TIMEOUT` and closes the connection if no message comes in that
   * time; without, it waits. One caller at a time.
   */
  receive(limitMs?: number): Promise<string | Buffer | undefined>;
  /** Closes the connection. Must always be called in the end. */
  close(): void;
}

const mostBytes = 64 * 2 ** 20;
const goodbyeMs = 1_000;

/** Connects within `connectMs`. Aborting cuts the connection at once, during the handshake and later. */
export async function openSocket(
  upstream: Upstream,
  request: SocketRequest,
  { signal }: CallOptions,
): Promise<UpstreamSocket> {
  signal.throwIfAborted();
  const url = new URL(request.url);
  url.protocol = url.protocol.replace(/^http/, 'ws');
  const { connectMs } = upstream.timeouts;
  const socket = new WebSocket(url, [...(request.protocols ?? [])], {
    headers: { ...request.headers },
    handshakeTimeout: connectMs,
    perMessageDeflate: false,
    maxPayload: mostBytes,
  });
  const messages = new Queue<string | Buffer>();
  const onAbort = (): void => {
    messages.fail(signal.reason);
    socket.terminate();
  };
  signal.addEventListener('abort', onAbort, { once: true });
  socket.on('message', (data: Buffer, isBinary) => messages.push(isBinary ? data : data.toString('utf8')));
  // Always attached: an error event without a listener ends the process.
  socket.on('error', (cause) =>
    messages.fail(connectionFault(upstream, cause, socket.readyState !== WebSocket.CONNECTING)),
  );
  socket.on('close', (code) => {
    signal.removeEventListener('abort', onAbort);
    if ([1000, 1001, 1005].includes(code)) messages.end();
    else messages.fail(request.faultOfClose?.(code) ?? brokenOff(upstream));
  });
  await opened(socket, upstream, signal);
  if (request.greeting !== undefined) socket.send(request.greeting);
  return new Connection(socket, upstream, messages);
}

class Connection implements UpstreamSocket {
  readonly #socket: WebSocket;
  readonly #upstream: Upstream;
  readonly #messages: AsyncIterator<string | Buffer>;

  constructor(socket: WebSocket, upstream: Upstream, messages: Queue<string | Buffer>) {
    this.#socket = socket;
    this.#upstream = upstream;
    this.#messages = messages[Symbol.asyncIterator]();
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  send(message: string | Uint8Array): void {
    if (this.isOpen) this.#socket.send(message);
  }

  async receive(limitMs?: number): Promise<string | Buffer | undefined> {
    const late = Promise.withResolvers<never>();
    const detail = `no message within ${(limitMs ?? 0) / 1_000} s. Is the server overloaded, or still loading its model?`;
    const timer =
      limitMs === undefined
        ? undefined
        : setTimeout(() => {
            late.reject(new EngineError(this.#upstream.name, 'ENGINE_TIMEOUT', detail));
            this.#socket.terminate();
          }, limitMs);
    try {
      const next = await Promise.race([this.#messages.next(), late.promise]);
      return next.done === true ? undefined : next.value;
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    this.#socket.close(1000);
    setTimeout(() => this.#socket.terminate(), goodbyeMs).unref();
  }
}

/** Settles when the handshake is over. */
function opened(socket: WebSocket, upstream: Upstream, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    socket.once('open', resolve);
    socket.once('unexpected-response', (_request, response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (text: string) => (body = (body + text).slice(0, 65_536)));
      response.once('close', () => {
        reject(statusFault(upstream, response.statusCode ?? 0, response.headers, body));
        socket.terminate();
      });
    });
    socket.once('error', (cause) => {
      const { connectMs } = upstream.timeouts;
      const late = /handshake has timed out/i.test(cause.message);
      const detail = `no connection within ${connectMs / 1_000} s. Is the server overloaded, or still loading its model?`;
      reject(
        signal.aborted
          ? (signal.reason as Error)
          : late
            ? new EngineError(upstream.name, 'ENGINE_TIMEOUT', detail)
            : connectionFault(upstream, cause, false),
      );
    });
    socket.once('close', () => signal.removeEventListener('abort', onAbort));
  });
}
