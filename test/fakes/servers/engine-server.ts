import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocketServer, type WebSocket } from 'ws';
import { CallCount, sendAnswer, type Answer, type Fault } from './faults.ts';

/** A request of a client. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly bytes: Buffer;
  json(): Record<string, unknown>;
  /** Parses `multipart/form-data`. */
  form(): Promise<FormData>;
}

/** One message on a WebSocket. */
export interface Message {
  readonly from: 'client' | 'server';
  /** Text messages as strings. */
  readonly data: string | Buffer;
}

/** Handler of `METHOD /path`; a `Talk` handles `WS /path`. */
export type Route = (request: SeenRequest) => Answer | Promise<Answer>;
export type SocketHandler = (socket: WebSocket, request: SeenRequest, pause: Pause) => void;

/** For protocols that reuse a connection for several tasks: none is in progress between `rest` and `go`. */
export interface Pause {
  /** The server is about to close the connection by itself. */
  refuse(): void;
  rest(): void;
  go(): void;
}

/**
 * An engine's server on loopback: its true protocol, with injected faults. Unknown paths get 404, and any HEAD gets
 * 405.
 */
export interface EngineServer extends AsyncDisposable {
  /** Such as `http://127.0.0.1:1234`. */
  readonly url: string;
  readonly requests: readonly SeenRequest[];
  /** Messages of the WebSocket that was opened last, in order. */
  readonly lastSocketMessages: readonly Message[];
  /** Number of connections ever made. */
  readonly connections: number;
  /** Highest number of concurrent requests. */
  readonly mostAtOnce: number;
  /** Number of exchanges and WebSockets in progress. */
  readonly open: number;
  /** Number of them that the client ended before they were complete. */
  readonly abandoned: number;
  /** Time of the last one, by `performance.now()`. */
  readonly abandonedAtMs: number | undefined;
  /** Injects a fault into the next answers, of `route` alone if given. */
  breaks(fault: Fault, options?: { readonly times?: number | undefined; readonly route?: string }): void;
  mends(): void;
}

/** Opens a server with these routes. */
export async function openEngineServer(
  routes: Readonly<Record<string, Route>>,
  talks: Readonly<Record<string, SocketHandler>> = {},
): Promise<EngineServer> {
  const resting = new Set<WebSocket>();
  // A fault also breaks idle connections, so that the next task needs a new one.
  const calls = new CallCount(() => {
    for (const socket of resting) socket.terminate();
  });
  const server = createServer((request, response) => {
    const end = calls.begin();
    response.once('close', () => end(response.writableFinished));
    void see(request).then(async (seen) => {
      calls.requests.push(seen);
      const route = `${seen.method} ${seen.path}`;
      const answer = routes[route];
      if (answer === undefined) return sendAnswer(response, nothingHere(seen.method));
      const given = await answer(seen);
      return sendAnswer(response, given, calls.faultFor(route) ?? given.fails);
    });
  });
  server.on('connection', () => (calls.connections += 1));
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  const hung = new Set<Duplex>();
  server.on('upgrade', (request, raw, head) => {
    const seen = asSeen(request, Buffer.alloc(0));
    calls.requests.push(seen);
    const route = `WS ${seen.path}`;
    const talk = talks[route];
    const fault = talk === undefined ? ({ kind: 'status', status: 404 } as const) : calls.faultFor(route);
    if (fault?.kind === 'hang') {
      const end = calls.begin();
      hung.add(raw);
      // Once taken over from the HTTP server, the socket must be read, or its end would not be noticed.
      raw.resume();
      raw.once('end', () => raw.destroy());
      raw.once('close', () => end(false));
      return;
    }
    if (fault?.kind === 'reset') return void raw.destroy();
    if (fault?.kind === 'status') {
      const headers = Object.entries(fault.headers ?? {}).map(([name, value]) => `${name}: ${value}\r\n`);
      return void raw.end(`HTTP/1.1 ${fault.status} No\r\n${headers.join('')}content-length: 0\r\n\r\n`);
    }
    sockets.handleUpgrade(request, raw, head, (socket) => {
      let end: ReturnType<CallCount['begin']> | undefined = calls.begin();
      let closedByUs = false;
      calls.lastSocketMessages = noted(socket);
      const spoiled = spoil(socket, fault, () => (closedByUs = true));
      const pause = {
        rest() {
          // The message was lost, so for the client the task is still in progress.
          if (isSpoiling(fault)) return;
          end?.(true);
          end = undefined;
          resting.add(socket);
        },
        refuse() {
          end?.(true);
          end = undefined;
        },
        go() {
          end ??= calls.begin();
          resting.delete(socket);
        },
      };
      socket.once('close', (code) => {
        end?.(closedByUs || code === 1000);
        resting.delete(socket);
      });
      talk?.(spoiled, seen, pause);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(calls, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets.clients) socket.terminate();
      for (const socket of hung) socket.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  });
}

/** Records the messages on a socket. */
function noted(socket: WebSocket): Message[] {
  const messages: Message[] = [];
  const send = socket.send.bind(socket);
  socket.on('message', (data: Buffer, isBinary) =>
    messages.push({ from: 'client', data: isBinary ? data : data.toString('utf8') }),
  );
  socket.send = ((data: string | Buffer) => {
    messages.push({ from: 'server', data });
    send(data);
  }) as WebSocket['send'];
  return messages;
}

/** On a WebSocket, `pieces` and `late` have no effect. */
function isSpoiling(fault: Fault | undefined): fault is Exclude<Fault, { kind: 'pieces' | 'late' }> {
  return fault !== undefined && fault.kind !== 'pieces' && fault.kind !== 'late';
}

/** Applies a fault to a socket: server messages are lost or replaced, or the connection ends. */
function spoil(socket: WebSocket, fault: Fault | undefined, closing: () => void): WebSocket {
  if (!isSpoiling(fault)) return socket;
  if (fault.kind === 'drip') return drip(socket, fault.everyMs);
  // The number of messages is unknown; half of them counts as two.
  let left = 'after' in fault ? Math.ceil(fault.after * 4) : 0;
  const send = socket.send.bind(socket);
  socket.send = ((data: string | Buffer) => {
    if (left > 0) {
      left -= 1;
      return send(data);
    }
    if (fault.kind === 'silence') return;
    closing();
    if (fault.kind === 'garbage') send('\u0000\u0001{"]not json');
    else if (fault.kind === 'page') send('<!doctype html><title>Welcome to nginx</title>');
    else if (fault.kind === 'empty') socket.close(1000);
    else socket.terminate();
  }) as WebSocket['send'];
  return socket;
}

/** Sends one message every `everyMs`, in order. Messages still queued when the connection ends are dropped. */
function drip(socket: WebSocket, everyMs: number): WebSocket {
  const send = socket.send.bind(socket);
  let last = Promise.resolve();
  socket.send = ((data: string | Buffer) => {
    last = last.then(async () => {
      if (socket.readyState === socket.OPEN) send(data);
      await pause(everyMs);
    });
  }) as WebSocket['send'];
  const close = socket.close.bind(socket);
  socket.close = (code, reason) => void (last = last.then(() => close(code, reason)));
  return socket;
}

function nothingHere(method: string): Answer {
  const headers = { 'content-type': 'application/json' };
  return {
    status: method === 'HEAD' ? 405 : 404,
    headers,
    ...(method === 'HEAD' ? {} : { body: '{"detail":"Not Found"}' }),
  };
}

async function see(request: IncomingMessage): Promise<SeenRequest> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return asSeen(request, Buffer.concat(pieces));
}

function asSeen(request: IncomingMessage, bytes: Buffer): SeenRequest {
  const url = new URL(request.url ?? '/', 'http://127.0.0.1');
  return {
    method: request.method ?? '',
    path: url.pathname,
    query: url.searchParams,
    headers: request.headers,
    bytes,
    json: () => JSON.parse(bytes.toString('utf8')) as Record<string, unknown>,
    form: () =>
      new Response(new Uint8Array(bytes), {
        headers: { 'content-type': request.headers['content-type'] ?? '' },
      }).formData(),
  };
}
