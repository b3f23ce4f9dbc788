import type OpenAI from 'openai';
import type { CallOptions } from '../../voices/engine.ts';
import type { ChatPart } from '../chat.ts';

type Body = OpenAI.ChatCompletionCreateParamsStreaming;

/**
 * Ways to have a server continue a message of the assistant: fields of the request (vLLM, SGLang), a field of the message
 * (DeepSeek's beta, Mistral), or nothing but the message as the last one (llama.cpp).
 */
export const continuations = ['continue_final_message', 'prefix', 'last_message'] as const;
export type Continuation = (typeof continuations)[number];

/** Ways of servers that name themselves as the owner of their models. */
const byOwner: Readonly<Record<string, Continuation>> = {
  vllm: 'continue_final_message',
  sglang: 'continue_final_message',
  llamacpp: 'last_message',
};

const longestLookMs = 2_000;

/** The known way of one server to continue a message. */
export interface Continuing {
  /** Returns the way of the server, for a call that has a beginning; undefined if it has none. */
  wayFor(call: CallOptions): Promise<Continuation | undefined>;
  /** Notes that the server has refused to. */
  decline(): void;
}

/** `set`: the way by the settings. Otherwise the server is asked once, when a call first has a beginning. */
export function openContinuing(client: OpenAI, set: Continuation | 'never' | undefined): Continuing {
  let known = set;
  return {
    async wayFor({ signal }) {
      known ??= await continuationOf(client, { signal }).catch(() => undefined);
      return known === 'never' ? undefined : known;
    },
    decline: () => void (known = 'never'),
  };
}

/** Returns how a server continues a message, by its host or its list of models; undefined if it does not say. */
async function continuationOf(client: OpenAI, { signal }: CallOptions): Promise<Continuation | undefined> {
  const { hostname, pathname } = new URL(client.baseURL);
  if (hostname === 'api.mistral.ai' || (hostname === 'api.deepseek.com' && pathname.startsWith('/beta')))
    return 'prefix';
  const { data } = await client.models.list({ signal, timeout: longestLookMs });
  return data.map(({ owned_by: owner }) => byOwner[owner]).find((how) => how !== undefined);
}

/** Returns the request with `begun` as its last message, to be continued. */
export function continuingBody(body: Body, begun: string, how: Continuation): Body {
  const last = { role: 'assistant' as const, content: begun, ...(how === 'prefix' ? { prefix: true } : {}) };
  const fields = how === 'continue_final_message' ? { continue_final_message: true, add_generation_prompt: false } : {};
  return { ...body, messages: [...body.messages, last], ...fields };
}

/** Yields `begun`, then its continuation. Some servers repeat what they continue: that is left out. */
export async function* withBeginning(parts: AsyncIterable<ChatPart>, begun: string): AsyncGenerator<ChatPart> {
  let held = '';
  let isHeld = true;
  let isFirst = true;
  for await (const part of parts) {
    // Not before the server has accepted the request.
    if (isFirst) yield { type: 'text-delta', text: begun };
    isFirst = false;
    if (!isHeld) {
      yield part;
      continue;
    }
    if (part.type === 'text-delta') held += part.text;
    if (part.type === 'text-delta' && held.length < begun.length && begun.startsWith(held)) continue;
    isHeld = false;
    const text = held.startsWith(begun) ? held.slice(begun.length) : held;
    if (text !== '') yield { type: 'text-delta', text };
    if (part.type !== 'text-delta') yield part;
  }
}
