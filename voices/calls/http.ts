import http, { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { z } from 'zod';
import { EngineError, type CallOptions } from '../engine.ts';
import { badReply, brokenOff, connectionFault, readJson, statusFault, type Upstream } from './http-faults.ts';

/** An HTTP request. */
export interface HttpRequest {
  readonly url: string | URL;
  /** Default: `POST` if there is a body, otherwise `GET`. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Request body: JSON, raw bytes, or `multipart/form-data`. */
  readonly json?: unknown;
  readonly bytes?: Uint8Array;
  readonly form?: FormData;
}

/** A response with a status of 2xx. */
export interface HttpReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Must be read to its end or left: both release the connection. Throws like `send`. */
  readonly body: AsyncIterable<Buffer>;
}

const agents = { 'http:': new http.Agent({ keepAlive: true }), 'https:': new https.Agent({ keepAlive: true }) };
/** Maximum size of a response that is read whole. */
const mostBytes = 64 * 2 ** 20;
const mostErrorBytes = 64 * 2 ** 10;

/** Sends a request; resolves at its status. Throws `signal.reason`, or `EngineError`: connection, status, timeout. */
export async function send(upstream: Upstream, request: HttpRequest, { signal }: CallOptions): Promise<HttpReply> {
  signal.throwIfAborted();
  const { body, type } = await encode(request);
  signal.throwIfAborted();
  const url = new URL(request.url);
  const secure = url.protocol === 'https:';
  const outgoing = (secure ? https : http).request(url, {
    agent: agents[secure ? 'https:' : 'http:'],
    method: request.method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      accept: '*/*',
      ...(body === undefined ? {} : { 'content-type': type, 'content-length': String(body.byteLength) }),
      ...request.headers,
    },
  });
  const exchange = new Exchange(upstream, outgoing, signal);
  outgoing.end(body);
  const response = await exchange.answered();
  const status = response.statusCode ?? 0;
  if (status < 200 || status > 299) {
    const text = await readText(exchange.bytesOf(response), mostErrorBytes).catch(() => '');
    signal.throwIfAborted();
    throw statusFault(upstream, status, response.headers, text);
  }
  return { status, headers: response.headers, body: exchange.bytesOf(response) };
}

/** Sends a request and reads the whole response, 64 MiB at most. */
export async function sendForBytes(upstream: Upstream, request: HttpRequest, options: CallOptions): Promise<Buffer> {
  return bytesOf(await send(upstream, request, options), upstream);
}

/** Reads a whole response, 64 MiB at most. */
export async function bytesOf({ body }: HttpReply, upstream: Upstream): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of body) {
    pieces.push(piece);
    length += piece.length;
    if (length > mostBytes) throw badReply(upstream, 'more than 64 MiB');
  }
  return Buffer.concat(pieces);
}

/** Sends a request whose response is JSON; anything else is `ENGINE_BAD_REPLY`. */
export async function sendForJson(upstream: Upstream, request: HttpRequest, options: CallOptions): Promise<unknown> {
  const bytes = await sendForBytes(upstream, request, options);
  return readJson(bytes.toString('utf8'), z.unknown(), upstream, 'invalid JSON');
}

/** A form with text fields, and with a WAV as a file in one more field. */
export function wavForm(
  fields: Readonly<Record<string, string>>,
  wavField?: string,
  wav?: Uint8Array,
  fileName = 'voice.wav',
): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  if (wavField !== undefined && wav !== undefined)
    form.set(wavField, new Blob([new Uint8Array(wav)], { type: 'audio/wav' }), fileName);
  return form;
}

/** One HTTP request in progress. */
class Exchange {
  readonly #upstream: Upstream;
  readonly #outgoing: ClientRequest;
  readonly #signal: AbortSignal;
  readonly #onAbort = (): void => void this.#outgoing.destroy();
  #timer: NodeJS.Timeout | undefined;
  #late: EngineError | undefined;

  constructor(upstream: Upstream, outgoing: ClientRequest, signal: AbortSignal) {
    this.#upstream = upstream;
    this.#outgoing = outgoing;
    this.#signal = signal;
    signal.addEventListener('abort', this.#onAbort, { once: true });
    // Errors after the response has begun surface where its body is read.
    outgoing.on('error', () => undefined);
    this.#expect('connectMs', 'no connection');
    outgoing.on('socket', (socket) => {
      const begin = (): void => this.#expect('firstByteMs', 'no response');
      if (!socket.connecting) begin();
      else socket.once('encrypted' in socket ? 'secureConnect' : 'connect', begin);
    });
  }

  answered(): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      this.#outgoing.once('response', resolve);
      this.#outgoing.once('error', (cause) => {
        this.#end();
        reject(this.#faultOf(cause, false));
      });
    });
  }

  async *bytesOf(response: IncomingMessage): AsyncGenerator<Buffer> {
    try {
      for await (const piece of response as AsyncIterable<Buffer>) {
        // Time the reader needs is not counted as the server's.
        clearTimeout(this.#timer);
        yield piece;
        this.#signal.throwIfAborted();
        this.#expect('betweenBytesMs', 'no further data');
      }
      if (!response.complete) throw brokenOff(this.#upstream);
    } catch (cause) {
      throw this.#faultOf(cause, true);
    } finally {
      this.#end();
      if (!response.complete) this.#outgoing.destroy();
    }
  }

  /** Closes the connection if the stage exceeds its timeout. */
  #expect(stage: 'connectMs' | 'firstByteMs' | 'betweenBytesMs', what: string): void {
    clearTimeout(this.#timer);
    if (this.#signal.aborted || this.#outgoing.destroyed) return;
    const limitMs = this.#upstream.timeouts[stage];
    const detail = `${what} within ${limitMs / 1_000} s. Is the server overloaded, or still loading its model?`;
    this.#timer = setTimeout(() => {
      this.#late = new EngineError(this.#upstream.name, 'ENGINE_TIMEOUT', detail);
      this.#outgoing.destroy();
    }, limitMs);
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#signal.removeEventListener('abort', this.#onAbort);
  }

  #faultOf(cause: unknown, answered: boolean): unknown {
    if (this.#signal.aborted) return this.#signal.reason;
    return this.#late ?? connectionFault(this.#upstream, cause, answered);
  }
}

async function encode(request: HttpRequest): Promise<{ readonly body: Uint8Array | undefined; readonly type: string }> {
  if (request.json !== undefined) return { body: Buffer.from(JSON.stringify(request.json)), type: 'application/json' };
  if (request.form === undefined) return { body: request.bytes, type: 'application/octet-stream' };
  const encoded = new Response(request.form);
  return {
    body: new Uint8Array(await encoded.arrayBuffer()),
    type: encoded.headers.get('content-type') ?? 'multipart/form-data',
  };
}

async function readText(bytes: AsyncIterable<Buffer>, most: number): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of bytes) {
    pieces.push(piece);
    length += piece.length;
    if (length >= most) break;
  }
  return Buffer.concat(pieces).toString('utf8', 0, most);
}
