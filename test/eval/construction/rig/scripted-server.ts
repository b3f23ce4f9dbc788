import { hash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { tokensOf } from '../../../../eval/text-metrics/tokens.ts';
import type { TextMessage } from '../../../../eval/construction/runner/model.ts';
import { mishaps, replyTo, type Answers } from './scripted-model.ts';

interface Body {
  readonly model: string;
  readonly messages: readonly TextMessage[];
  readonly temperature?: number;
}

/** A chat server on loopback that plays a script. Its models have the names of stages. */
export interface ScriptedServer extends AsyncDisposable {
  readonly url: string;
  /** Keys of the calls that arrived whole, in order, refused ones left out. */
  readonly calls: string[];
  /** Called when a call arrives, before it is answered. */
  onCall: () => void;
}

/** Starts the server. Which calls go wrong is decided by what they say, so it is the same in each build. */
export async function openScriptedServer(answers: Answers, faults = 0): Promise<ScriptedServer> {
  const calls: string[] = [];
  const declined = new Set<string>();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = (await json(request).catch(() => undefined)) as Body | undefined;
    if (body === undefined) return;
    if (request.url?.endsWith('/embeddings')) {
      const data = (body as unknown as { input: string[] }).input.map((text, index) => ({
        index,
        embedding: vectorOf(text),
      }));
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ data }));
      return;
    }
    const key = hash('sha1', JSON.stringify([body.model, body.messages, body.temperature]), 'buffer');
    const isHit = key.readUInt32BE(0) / 2 ** 32 < faults;
    const mishap = isHit ? mishaps[key.readUInt32BE(4) % mishaps.length] : undefined;
    const name = key.toString('hex');
    if ((mishap === '429' || mishap === '500') && !declined.has(name)) {
      declined.add(name);
      response.writeHead(Number(mishap), { 'retry-after': '0' }).end('{"error": {"message": "later"}}');
      return;
    }
    calls.push(name);
    opened.onCall();
    const call = { stage: body.model, record: '', part: '', attempt: '0', messages: body.messages, sampling: {} };
    const { text, finish, inputTokens, outputTokens } = replyTo(call, answers, mishap);
    const choice = { message: { content: text }, finish_reason: finish };
    const usage = { prompt_tokens: inputTokens, completion_tokens: outputTokens };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ model: `${body.model}-1`, choices: [choice], usage }));
  };
  const server = createServer((request, response) => {
    answer(request, response).catch((fault: unknown) => response.writeHead(500).end(String(fault)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const opened: ScriptedServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    calls,
    onCall: () => undefined,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return opened;
}

/** A vector of the words, or Han characters, of a text: texts with common words are similar. */
export function vectorOf(text: string): number[] {
  const vector = Array.from({ length: 64 }, () => 0);
  for (const word of tokensOf(text, 'han')) {
    const at = hash('sha1', word, 'buffer').readUInt8(0) % vector.length;
    vector[at] = (vector[at] ?? 0) + 1;
  }
  return vector;
}
