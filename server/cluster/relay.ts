import { createHash, timingSafeEqual } from 'node:crypto';
import { request as httpRequest, type ClientRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Duplex } from 'node:stream';
import type { Socket } from 'node:net';

const keyHeader = 'x-dramatis-cluster-key';
const addressHeader = 'x-dramatis-cluster-address';

/** Longest time that another node takes to answer a request that is passed on. */
const mostAnswerMs = 10_000;

/** Answer that another node gave itself, such as a refusal. */
export interface NodeAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A client's request that is passed on to another node. */
export interface PassedRequest {
  readonly request: IncomingMessage;
  /** The client's address, as the limits count it. */
  readonly address: string;
  /** URL of the other node. */
  readonly url: string;
}

/** Passes WebSockets on to the nodes that own their sessions: the same upgrade, then bytes both ways. And requests about calls. */
export class Relays {
  readonly #key: string;
  readonly #patienceMs: number;
  readonly #open = new Set<Duplex>();

  /** `key`: the secret that the nodes share. A node that does not answer an upgrade for `patienceMs` is held for dead. */
  constructor(key: string, patienceMs = 300) {
    this.#key = key;
    this.#patienceMs = patienceMs;
  }

  /** Number of sockets that are passed on. */
  get size(): number {
    return this.#open.size;
  }

  /** Returns the client's address as another node reports it; undefined if the request comes from none. */
  addressIn(headers: IncomingHttpHeaders): string | undefined {
    const { [keyHeader]: key, [addressHeader]: address } = headers;
    if (typeof key !== 'string' || typeof address !== 'string') return undefined;
    return timingSafeEqual(digestOf(key), digestOf(this.#key)) ? address : undefined;
  }

  /**
   * Passes an upgrade on. `silent`: the other node refused the connection, accepts no sessions (503), or was silent
   * for too long; the client's socket is untouched then.
   */
  pass({ request, address, url }: PassedRequest): Promise<'passed' | 'silent' | NodeAnswer> {
    const { promise, resolve } = Promise.withResolvers<'passed' | 'silent' | NodeAnswer>();
    const onward = this.#ask({ request, address, url });
    const silence = setTimeout(() => onward.destroy(new Error('silent')), this.#patienceMs);
    onward.once('error', () => resolve('silent'));
    onward.once('close', () => clearTimeout(silence));
    onward.once('upgrade', (response, upstream: Socket, head: Buffer) => {
      clearTimeout(silence);
      this.#join(request.socket, upstream, response, head);
      resolve('passed');
    });
    onward.once('response', (response) => {
      clearTimeout(silence);
      void answerOf(response).then(resolve);
    });
    onward.end();
    return promise;
  }

  /** Passes a request on that is no upgrade, with its body. `silent`: as for `pass`. */
  async forward(passed: PassedRequest, body: Buffer): Promise<'silent' | NodeAnswer> {
    const isThere = await fetch(new URL('/livez', passed.url), { signal: AbortSignal.timeout(this.#patienceMs) }).then(
      ({ ok }) => ok,
      () => false,
    );
    if (!isThere) return 'silent';
    const { promise, resolve } = Promise.withResolvers<'silent' | NodeAnswer>();
    const onward = this.#ask(passed, 'POST').setTimeout(mostAnswerMs, () => onward.destroy(new Error('silent')));
    onward.once('error', () => resolve('silent'));
    onward.once('response', (response) => void answerOf(response).then(resolve));
    onward.end(body);
    return promise;
  }

  #ask({ request, address, url }: PassedRequest, method = 'GET'): ClientRequest {
    const target = new URL(request.url ?? '/', url);
    const ask = target.protocol === 'https:' ? httpsRequest : httpRequest;
    return ask(target, {
      method,
      headers: [...cleanHeaders(request.rawHeaders), keyHeader, this.#key, addressHeader, address],
      setHost: false,
      agent: false,
    });
  }

  #join(client: Socket, upstream: Socket, { rawHeaders }: IncomingMessage, head: Buffer): void {
    const lines = Array.from(
      { length: rawHeaders.length / 2 },
      (_, at) => `${rawHeaders[2 * at]}: ${rawHeaders[2 * at + 1]}`,
    );
    client.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`);
    if (head.length > 0) client.write(head);
    this.#open.add(client);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.setTimeout(0);
      from.setNoDelay(true);
      from.on('error', () => to.destroy());
      from.once('close', () => {
        this.#open.delete(from);
        // What was read goes out first; a peer that is gone takes nothing.
        if (!to.destroyed) to.end(() => to.destroy());
      });
      from.pipe(to);
    }
  }

  /** Cuts what is passed on, so that clients dial again. */
  close(): void {
    for (const client of this.#open) client.destroy();
  }
}

/** Reads what another node answers; 503 means that it accepts no sessions. */
async function answerOf(response: IncomingMessage): Promise<'silent' | NodeAnswer> {
  const { statusCode: status = 502, headers } = response;
  let body = '';
  response.setEncoding('utf8').on('data', (piece: string) => (body += piece));
  await new Promise<void>((resolve) => void response.once('close', () => resolve()));
  return status === 503 ? 'silent' : { status, headers, body };
}

/** The headers of a request without what only nodes may say. */
function cleanHeaders(rawHeaders: readonly string[]): string[] {
  return rawHeaders.filter((_, at) => !rawHeaders[at - (at % 2)]?.toLowerCase().startsWith('x-dramatis-cluster-'));
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
