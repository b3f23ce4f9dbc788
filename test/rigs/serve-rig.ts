import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEachTest } from '../fakes/cleanups.ts';
import { WebSocket, type ClientOptions } from 'ws';
import { loadCharacters } from '../../characters/character.ts';
import { readConfig } from '../../server/config/config.ts';
import type { Engines } from '../../server/engines/engines.ts';
import { buildApp } from '../../server/app/app.ts';
import { ClientSecrets } from '../../server/http/client-secrets.ts';
import { LiveSessions } from '../../server/http/live-sessions.ts';
import { builtInCharacters } from '../../server/cast/cast.ts';
import { openMemories } from '../../server/memory/memories.ts';
import type { VoiceWatch } from '../../server/telemetry/voice-watch.ts';
import { openTls } from '../../server/tls/credentials.ts';
import { fakeEngines } from '../fakes/engines.ts';
import OpenAI, { APIError } from 'openai';

export const characters = new Map((await loadCharacters(builtInCharacters)).map((pack) => [pack.id, pack]));

const open: { close(): Promise<unknown> }[] = [];

afterEachTest(async () => {
  await Promise.all(open.splice(0).map((app) => app.close()));
});

/** The server on fake engines and a free loopback port; `log` records its log lines. */
export async function serve(
  options: { flags?: Record<string, string | boolean>; engines?: Engines; voiceWatch?: VoiceWatch } = {},
) {
  const log: string[] = [];
  const config = readConfig({ flags: { logLevel: 'debug', ...options.flags }, environment: {} });
  const sessions = new LiveSessions(config);
  const secrets = new ClientSecrets();
  const { chatModel } = options.engines ?? {};
  const onFault = (fault: unknown): void => void log.push(String(fault));
  const memories = await openMemories({ config, chatModel, characters, onFault, patience: 2 });
  // A copy, so that characters imported by one test do not exist in the next.
  const cast = new Map(characters);
  const app = await buildApp({
    config,
    engines: options.engines ?? fakeEngines(),
    characters: cast,
    version: '0',
    sessions,
    secrets,
    tls: await openTls(config),
    voiceWatch: options.voiceWatch,
    memories,
    log: { write: (line) => void log.push(line) },
  });
  open.push({ close: () => app.close().then(() => memories.close()) });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const at = `127.0.0.1:${port}`;
  return {
    app,
    characters: cast,
    at,
    port,
    log,
    sessions,
    secrets,
    url: `http://${at}`,
    /** Sends a request, with a JSON body if given. */
    ask: async (path: string, init: { key?: string; body?: unknown; headers?: Record<string, string> } = {}) => {
      const response = await fetch(`http://${at}${path}`, {
        method: init.body === undefined ? 'GET' : 'POST',
        headers: {
          ...(init.key === undefined ? {} : { authorization: `Bearer ${init.key}` }),
          ...(init.body === undefined ? {} : { 'content-type': 'application/json' }),
          ...init.headers,
        },
        ...(init.body === undefined ? {} : { body: JSON.stringify(init.body) }),
      });
      // Untyped, because each test knows the fields of its response.
      const body: any = await response.json();
      return { status: response.status, headers: response.headers, body };
    },
    /** Opens a conversation and records it. */
    call: (query = '', headers: Record<string, string> = {}, protocols: string[] = []) =>
      record(new WebSocket(`ws://${at}/v1/realtime${query}`, protocols, { headers })),
    connect: (clientOptions: ClientOptions) => record(new WebSocket(`ws://${at}/v1/realtime`, clientOptions)),
  };
}

// Untyped, because each test knows the fields of its events.
type Event = Record<string, any>;

/** A socket whose events are recorded. */
export function record(socket: WebSocket) {
  const events: Event[] = [];
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() }));
  });
  const refused = new Promise<{ status: number; retryAfter: string | undefined; code: string }>((resolve) => {
    socket.once('unexpected-response', (_request, response: IncomingMessage) => {
      let body = '';
      response.on('data', (piece: Buffer) => (body += piece.toString()));
      response.on('end', () => {
        socket.terminate();
        const { error } = JSON.parse(body) as { error: { code: string } };
        resolve({ status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'], code: error.code });
      });
    });
  });
  socket.on('error', () => undefined);
  socket.on('message', (data: Buffer) => events.push(JSON.parse(data.toString()) as Event));
  return {
    socket,
    events,
    closed,
    /** The HTTP refusal of the server, before the upgrade to a WebSocket. */
    refused,
    send: (event: Record<string, unknown>) => socket.send(JSON.stringify(event)),
    /** The next event of this type after those already returned. */
    async until(type: string): Promise<Event> {
      for (;;) {
        const index = events.findIndex((event) => event['type'] === type);
        const found = events[index];
        if (found !== undefined) {
          events.splice(0, index + 1);
          return found;
        }
        const outcome = await Promise.race([once(socket, 'message'), closed]);
        if (!Array.isArray(outcome)) throw new Error(`closed with ${outcome.code} ${outcome.reason} before ${type}`);
      }
    },
  };
}

/** A server, with a stock client. */
export async function client(engines: Engines = fakeEngines(), flags: Record<string, string> = {}) {
  const server = await serve({ engines, flags });
  return { ...server, openai: new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none', maxRetries: 0 }) };
}

/** Status, code and param of the error that a stock client gets. */
export async function failureOf(call: Promise<unknown>): Promise<{ status: unknown; code: unknown; param: unknown }> {
  const fault = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(fault instanceof APIError)) throw new Error(`no API error: ${String(fault)}`);
  return { status: fault.status as unknown, code: fault.code, param: fault.param };
}

/** Sends a raw request, waits for `begun`, hangs up, and waits for `ended`. */
export async function hangUp(
  port: number,
  path: string,
  body: string,
  begun: Promise<unknown>,
  ended: Promise<unknown>,
) {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const head = `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}`;
  socket.write(`${head}\r\n\r\n${body}`);
  await begun;
  socket.destroy();
  await ended;
}
