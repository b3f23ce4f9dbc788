import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** Handles one request. Returning leaves the connection open: an exchange must end its response itself. */
export type Exchange = (response: ServerResponse) => void | Promise<void>;

/** A request of a client. */
export interface SeenRequest {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A chat server on loopback that plays its exchanges in turn and repeats the last one. */
export interface ChatServer extends AsyncDisposable {
  readonly baseUrl: string;
  readonly requests: readonly SeenRequest[];
  /** Resolves once the client has closed a connection before its response was complete. */
  readonly whenAbandoned: Promise<void>;
}

/** Opens a server that speaks the OpenAI chat-completions protocol, with the faults of its exchanges. */
export async function openChatServer(...exchanges: readonly Exchange[]): Promise<ChatServer> {
  const requests: SeenRequest[] = [];
  const { promise: whenAbandoned, resolve: abandon } = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    response.once('close', () => {
      if (!response.writableFinished) abandon();
    });
    void readJson(request).then(async (body) => {
      requests.push({ path: request.url ?? '', authorization: request.headers.authorization, body });
      await exchanges[Math.min(requests.length, exchanges.length) - 1]?.(response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    whenAbandoned,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Deviations of a reply from the plain case. */
export interface ReplyShape {
  readonly finish?: 'stop' | 'length' | 'content_filter' | 'tool_calls' | null;
  readonly usage?: boolean;
  readonly done?: boolean;
  /** Reasoning text, sent in `reasoning_content` before the content. None by default. */
  readonly thoughts?: readonly string[];
  /** The `tool_calls` of one delta each, after all text. */
  readonly calls?: readonly (readonly unknown[])[];
  /** Cuts the stream into pieces of this many bytes, also within characters. */
  readonly pieceBytes?: number;
  /** Delay before each delta. */
  readonly gapMs?: number;
}

/** The events of a complete reply: role-only first delta, pings, deltas, finish reason, usage, `[DONE]`. */
export function replyEvents(deltas: readonly string[], shape: ReplyShape = {}): string[] {
  const { finish = 'stop', usage = true, done = true, thoughts = [], calls = [] } = shape;
  return [
    ': ping\n\n',
    event(chunk({ role: 'assistant', content: '' })),
    ...thoughts.map((text) => event(chunk({ reasoning_content: text }))),
    ...deltas.map((text) => event(chunk({ content: text }))),
    ...calls.map((pieces) => event(chunk({ content: null, tool_calls: pieces }))),
    ...(finish === null ? [] : [event(chunk({}, finish))]),
    ...(usage ? [event({ ...chunk({}), choices: [], usage: { prompt_tokens: 11, completion_tokens: 7 } })] : []),
    ...(done ? ['data: [DONE]\n\n'] : []),
  ];
}

/** Sends a complete reply, see `replyEvents`. */
export function says(deltas: readonly string[], shape: ReplyShape = {}): Exchange {
  const { pieceBytes, gapMs } = shape;
  const events = replyEvents(deltas, shape);
  return async (response) => {
    startStream(response);
    const pieces = pieceBytes === undefined ? events : cut(Buffer.from(events.join('')), pieceBytes);
    for (const piece of pieces) {
      if (gapMs !== undefined) await pause(gapMs);
      response.write(piece);
    }
    response.end();
  };
}

/** Accepts the request and never answers. */
export function hangs(): Exchange {
  return () => {};
}

/** Sends the deltas, then resets the connection. */
export function diesAfter(...deltas: readonly string[]): Exchange {
  return async (response) => {
    startStream(response);
    for (const text of deltas) response.write(event(chunk({ content: text })));
    // A moment for the deltas to leave before the connection breaks.
    await pause(5);
    response.socket?.resetAndDestroy();
  };
}

/** Answers with an error status before any stream, as OpenAI does. */
export function fails(
  status: number,
  error: Readonly<Record<string, unknown>> = {},
  headers: Readonly<Record<string, string>> = {},
): Exchange {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify({ error: { message: 'no', type: 'error', param: null, code: null, ...error } }));
  };
}

/** Sends a body with any content type and status 200. */
export function sends(contentType: string, body: string): Exchange {
  return (response) => {
    response.writeHead(200, { 'content-type': contentType });
    response.end(body);
  };
}

/** Sends some deltas and then an error event, as vLLM and llama.cpp do. */
export function failsInStream(deltas: readonly string[], error: Readonly<Record<string, unknown>>): Exchange {
  return (response) => {
    startStream(response);
    for (const text of deltas) response.write(event(chunk({ content: text })));
    response.end(event({ error }));
  };
}

function chunk(delta: Readonly<Record<string, unknown>>, finish: string | null = null): Record<string, unknown> {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'fake',
    choices: [{ index: 0, delta, finish_reason: finish }],
  };
}

function event(data: Readonly<Record<string, unknown>>): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

function startStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
}

function cut(bytes: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );
}

async function readJson(request: IncomingMessage): Promise<Record<string, unknown>> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  // A request for the list of models has no body.
  return JSON.parse(Buffer.concat(pieces).toString('utf8') || '{}') as Record<string, unknown>;
}
