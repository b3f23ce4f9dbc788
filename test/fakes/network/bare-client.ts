import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { EngineServer, Message, SeenRequest } from '../servers/engine-server.ts';

/** A recorded exchange of an adapter with a server, to be replayed. */
export interface Exchange {
  readonly requests: readonly SeenRequest[];
  /** Set if the last request opened a WebSocket. */
  readonly talk?: readonly Message[];
}

/** Returns the exchange since request number `from`. */
export function exchangeSince(from: number, { requests, lastSocketMessages: lastTalk }: EngineServer): Exchange {
  const made = requests.slice(from);
  return { requests: made, ...(made.at(-1)?.headers.upgrade === undefined ? {} : { talk: lastTalk }) };
}

const ofTheConnection = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'upgrade']);
const isResult = (data: string | Buffer): boolean =>
  Buffer.isBuffer(data) || /response\.output_audio\.delta|"sentence_end":true|2pass-offline/.test(data);

/**
 * Replays an exchange with plain `fetch` or `ws`, without processing the answer. Resolves with the first byte, or the
 * first result, of the answer.
 */
export async function sayAgain({ requests, talk }: Exchange, url: string): Promise<void> {
  for (const [index, request] of requests.entries()) {
    if (request.headers.upgrade !== undefined) return talkAgain(request, talk ?? [], url);
    const response = await fetch(`${url}${request.path}${request.query.size > 0 ? `?${request.query}` : ''}`, {
      method: request.method,
      headers: headersOf(request),
      ...(request.bytes.length === 0 ? {} : { body: new Uint8Array(request.bytes) }),
    });
    const reader = response.body?.getReader();
    const first = await reader?.read();
    const rest = (async () => {
      for (let part = first; part?.done === false;) part = await reader?.read();
    })();
    if (index < requests.length - 1) await rest;
  }
}

/** Sends each client message once as many server messages have arrived as had in the recording. */
async function talkAgain(request: SeenRequest, talk: readonly Message[], url: string): Promise<void> {
  const { 'sec-websocket-protocol': protocol } = request.headers;
  const headers = Object.fromEntries(Object.entries(headersOf(request)).filter(([name]) => !name.startsWith('sec-')));
  const socket = new WebSocket(
    `${url.replace('http', 'ws')}${request.path}`,
    protocol === undefined ? [] : protocol.split(/, ?/),
    { headers, perMessageDeflate: false },
  );
  const heard: (string | Buffer)[] = [];
  socket.on('message', (data: Buffer, isBinary) => heard.push(isBinary ? data : data.toString('utf8')));
  await once(socket, 'open');
  let due = 0;
  for (const { from, data } of talk) {
    if (from === 'client') {
      socket.send(data);
      continue;
    }
    due += 1;
    while (heard.length < due) await once(socket, 'message');
    if (isResult(heard[due - 1] ?? '')) break;
  }
  socket.close(1000);
}

function headersOf({ headers }: SeenRequest): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      ofTheConnection.has(name) || typeof value !== 'string' ? [] : [[name, value]],
    ),
  );
}
