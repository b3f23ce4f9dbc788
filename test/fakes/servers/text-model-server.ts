import { setTimeout as pause } from 'node:timers/promises';
import { replyEvents } from './chat-server.ts';
import { openEngineServer, type EngineServer } from './engine-server.ts';
import { failureOf } from './judge-server.ts';

/** A fault in one answer of a model. */
export type TextFault = 'garbled' | 'refusal' | 'status-429' | 'status-500' | 'cut';

/** A request for a chat completion. */
export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly temperature?: number;
  readonly max_tokens?: number;
  /** True of a server that speaks the answer while it is generated. */
  readonly stream?: boolean;
}

/** Models behind one OpenAI-compatible server, each a function of the request. */
export interface TextModelServer extends EngineServer {
  /** Number of times each fault was injected. */
  readonly faults: Readonly<Partial<Record<TextFault, number>>>;
  readonly answered: number;
}

/** Opens such a server; `faultAt` gets the number of a request (from 0), and the model it is for. */
export async function openTextModelServer(
  models: Readonly<Record<string, (request: ChatRequest) => string>>,
  options: {
    readonly delayMs?: number;
    readonly faultAt?: (number: number, request: ChatRequest) => TextFault | undefined;
  } = {},
): Promise<TextModelServer> {
  const { delayMs = 0, faultAt = () => undefined } = options;
  const faults: Partial<Record<TextFault, number>> = {};
  let number = 0;
  let answered = 0;
  const server = await openEngineServer({
    async 'POST /v1/chat/completions'(seen) {
      const request = seen.json() as unknown as ChatRequest;
      const fault = faultAt(number, request);
      number += 1;
      if (delayMs > 0) await pause(delayMs);
      if (fault !== undefined) faults[fault] = (faults[fault] ?? 0) + 1;
      const failed = failureOf(fault);
      if (failed !== undefined) return failed;
      answered += 1;
      const text = models[request.model]?.(request) ?? `no model ${request.model}`;
      const content = fault === 'garbled' ? 'Both have their merits.' : fault === 'refusal' ? '' : text;
      if (request.stream === true)
        return { headers: { 'content-type': 'text/event-stream' }, body: replyEvents([content]).join('') };
      const message = { role: 'assistant', content, refusal: fault === 'refusal' ? 'I cannot judge this.' : null };
      const usage = { prompt_tokens: 100, completion_tokens: 10 };
      const body = { model: `${request.model}-2026`, choices: [{ message, finish_reason: 'stop' }], usage };
      return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    },
  });
  return Object.defineProperties(server, {
    faults: { value: faults },
    answered: { get: () => answered },
  }) as TextModelServer;
}

/** The last message of a request. */
export function lastOf({ messages }: ChatRequest): string {
  return messages.at(-1)?.content ?? '';
}
