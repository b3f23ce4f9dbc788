import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { CallPolicy } from '../../../voices/calls/call-policy.ts';
import type { EngineErrorCode } from '../../../voices/engine.ts';
import type { EngineServer, Message, SeenRequest } from './engine-server.ts';

type Piece = string | Uint8Array;

/** A response of a server. */
export interface Answer {
  /** 200 unless given. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Each piece is a separate write. */
  readonly body?: Piece | Iterable<Piece> | AsyncIterable<Piece>;
  /** Failure of the server itself in this answer. */
  readonly fails?: Fault;
}

/** A fault injected into a response. `after`: the part of the body, 0 to 1, that still gets through. */
export type Fault =
  | { readonly kind: 'status'; readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  | { readonly kind: 'reset' | 'hang' | 'empty' | 'garbage' | 'page' }
  | { readonly kind: 'cut' | 'half-close' | 'silence'; readonly after: number }
  | { readonly kind: 'pieces'; readonly sizes: readonly number[] }
  | { readonly kind: 'late'; readonly ms: number }
  /** Nothing is lost, but slow: this many pieces (on a WebSocket: its messages), one every `everyMs`. */
  | { readonly kind: 'drip'; readonly pieces: number; readonly everyMs: number };

/** A fault, with what a caller may make of it. */
export interface FaultCase {
  /** Completes "a server that …". */
  readonly name: string;
  readonly fault: Fault;
  /** Number of answers that it affects; all unless given. */
  readonly times?: number;
  /** Error codes that the caller may get. Empty: the call succeeds anyway. */
  readonly codes: readonly EngineErrorCode[];
  /** False: a retry would be wrong. */
  readonly again?: boolean;
  /** Call policy that the engine must be opened with for this case. */
  readonly care?: CallPolicy;
}

const impatient: CallPolicy = { timeouts: { connectMs: 200, firstByteMs: 200, betweenBytesMs: 200 }, retries: 0 };

const lost: readonly EngineErrorCode[] = ['ENGINE_UNAVAILABLE', 'ENGINE_BAD_REPLY'];

/** Faults of engine servers seen in the field. */
export const faultCatalogue: readonly FaultCase[] = [
  { name: 'does not accept the key', fault: status(401), codes: ['ENGINE_REFUSED'], again: false },
  { name: 'does not know the model', fault: status(404), codes: ['ENGINE_REFUSED'], again: false },
  { name: 'does not accept the request', fault: status(422), codes: ['ENGINE_REFUSED'], again: false },
  { name: 'fails', fault: status(500), codes: ['ENGINE_UNAVAILABLE'] },
  { name: 'fails once', fault: status(500), times: 1, codes: [] },
  { name: 'is loading its model for a moment', fault: status(503, '0'), times: 1, codes: [] },
  { name: 'has too many requests for a moment', fault: status(429, '0'), times: 1, codes: [] },
  {
    name: 'wants to be left alone for a minute',
    fault: status(429, '60'),
    codes: ['ENGINE_UNAVAILABLE'],
    again: false,
  },
  { name: 'resets the connection once', fault: { kind: 'reset' }, times: 1, codes: [] },
  { name: 'resets every connection', fault: { kind: 'reset' }, codes: ['ENGINE_UNAVAILABLE'] },
  { name: 'never answers', fault: { kind: 'hang' }, codes: ['ENGINE_TIMEOUT'], care: impatient },
  {
    name: 'says 200 and falls silent',
    fault: { kind: 'silence', after: 0 },
    codes: ['ENGINE_TIMEOUT'],
    care: impatient,
  },
  { name: 'falls silent halfway', fault: { kind: 'silence', after: 0.5 }, codes: ['ENGINE_TIMEOUT'], care: impatient },
  { name: 'says 200 and then fails', fault: { kind: 'cut', after: 0 }, codes: lost },
  { name: 'breaks off halfway', fault: { kind: 'cut', after: 0.5 }, codes: lost },
  { name: 'closes its half of the connection halfway', fault: { kind: 'half-close', after: 0.5 }, codes: lost },
  { name: 'answers with nothing', fault: { kind: 'empty' }, codes: lost },
  { name: 'answers with garbage', fault: { kind: 'garbage' }, codes: lost },
  { name: 'answers with a web page', fault: { kind: 'page' }, codes: lost },
  { name: 'cuts its answer into odd pieces', fault: { kind: 'pieces', sizes: [1, 3, 2, 7, 5, 1_021] }, codes: [] },
  { name: 'is slow to begin', fault: { kind: 'late', ms: 30 }, codes: [] },
];

function status(code: number, retryAfter?: string): Fault {
  return {
    kind: 'status',
    status: code,
    ...(retryAfter === undefined ? {} : { headers: { 'retry-after': retryAfter } }),
  };
}

/** Sends an answer, or what the fault makes of it. */
export async function sendAnswer(response: ServerResponse, answer: Answer, fault?: Fault): Promise<void> {
  const type = answer.headers?.['content-type'] ?? 'application/octet-stream';
  switch (fault?.kind) {
    case 'hang':
      return;
    case 'reset':
      response.socket?.resetAndDestroy();
      return;
    case 'status':
      response.writeHead(fault.status, { 'content-type': 'application/json', ...fault.headers });
      response.end(JSON.stringify({ error: { message: `no: ${response.req.headers.authorization}`, code: null } }));
      return;
    case 'empty':
      response.writeHead(200, { 'content-type': type });
      response.end();
      return;
    case 'garbage':
      response.writeHead(200, { 'content-type': type });
      response.end(Buffer.from(Array.from({ length: 999 }, (_, index) => (index * 89 + 7) % 256)));
      return;
    case 'page':
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end('<!doctype html><title>Welcome to nginx</title>');
      return;
    default:
      await sendBody(response, answer, fault);
  }
}

async function sendBody(response: ServerResponse, answer: Answer, fault: Fault | undefined): Promise<void> {
  if (fault?.kind === 'late') await pause(fault.ms);
  response.writeHead(answer.status ?? 200, answer.headers);
  if (fault === undefined || fault.kind === 'late') {
    for await (const piece of piecesOf(answer.body)) response.write(piece);
    response.end();
    return;
  }
  response.flushHeaders();
  const body = Buffer.concat((await Array.fromAsync(piecesOf(answer.body))).map((piece) => Buffer.from(piece)));
  if (fault.kind === 'pieces') {
    for (const piece of cut(body, fault.sizes)) {
      response.write(piece);
      // A write is a separate piece only if it is sent on its own.
      await new Promise((resolve) => setImmediate(resolve));
    }
    response.end();
    return;
  }
  if (fault.kind === 'drip') {
    for (const piece of cut(body, [Math.ceil(body.length / fault.pieces)])) {
      if (response.destroyed) return;
      response.write(piece);
      await pause(fault.everyMs);
    }
    response.end();
    return;
  }
  if (!('after' in fault)) return;
  const part = body.subarray(0, Math.floor(body.length * fault.after));
  if (part.length > 0) await new Promise((resolve) => response.write(part, resolve));
  // Time for what was written to leave before the connection breaks.
  await pause(5);
  if (fault.kind === 'cut') response.socket?.resetAndDestroy();
  if (fault.kind === 'half-close') response.socket?.end();
}

async function* piecesOf(body: Answer['body']): AsyncGenerator<Piece> {
  if (body === undefined) return;
  if (typeof body === 'string' || body instanceof Uint8Array) yield body;
  else yield* body;
}

/** Cuts bytes into pieces of these sizes, repeated as needed. */
export function* cut(bytes: Buffer, sizes: readonly number[]): Generator<Buffer> {
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

/** Records the calls to an in-test server of any protocol, and decides which answers fail. */
export class CallCount implements Omit<EngineServer, 'url' | typeof Symbol.asyncDispose> {
  readonly requests: SeenRequest[] = [];
  lastSocketMessages: readonly Message[] = [];
  connections = 0;
  mostAtOnce = 0;
  open = 0;
  abandoned = 0;
  abandonedAtMs: number | undefined;
  /** The fault to inject, and the number of answers that it still affects. */
  breakage: { readonly fault: Fault; readonly route: string | undefined; times: number } | undefined;
  readonly #onBreak: (fault: Fault) => void;

  /** `onBreak` is called with each new fault, for faults that affect connections. */
  constructor(onBreak: (fault: Fault) => void = () => undefined) {
    this.#onBreak = onBreak;
  }

  /** Counts a call. Returns the function that ends it. */
  begin(): (isComplete: boolean) => void {
    this.open += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.open);
    return (isComplete) => {
      this.open -= 1;
      if (isComplete) return;
      this.abandoned += 1;
      this.abandonedAtMs = performance.now();
    };
  }

  /** Fault for the next answer of a route, if any. */
  faultFor(route: string): Fault | undefined {
    const { breakage } = this;
    if (breakage === undefined || breakage.times <= 0) return undefined;
    if (breakage.route !== undefined && breakage.route !== route) return undefined;
    breakage.times -= 1;
    return breakage.fault;
  }

  breaks(fault: Fault, options: { readonly times?: number | undefined; readonly route?: string } = {}): void {
    this.breakage = { fault, route: options.route, times: options.times ?? Infinity };
    this.#onBreak(fault);
  }

  mends(): void {
    this.breakage = undefined;
  }
}
