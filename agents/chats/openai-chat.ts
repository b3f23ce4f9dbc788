import { setTimeout as pause } from 'node:timers/promises';
import OpenAI from 'openai';
import type { ChatCompletionChunk } from 'openai/resources/chat/completions';
import { z } from 'zod';
import { baseUrlSchema } from '../../voices/calls/base-url.ts';
import { pauseBeforeNext } from '../../voices/calls/calls.ts';
import type { Adapter, SettingNames } from '../../voices/calls/context.ts';
import { brokenOff } from '../../voices/calls/http-faults.ts';
import { checkOpenaiModel } from '../../voices/calls/openai-models.ts';
import { EngineError, type CallOptions } from '../../voices/engine.ts';
import type { ChatEnd, ChatModel, ChatPart, ChatSettings, Message } from '../chat.ts';
import { continuations, continuingBody, openContinuing, withBeginning, type Continuation } from './continuation.ts';
import { declinedParameter, faultOf, isRefusal, notAStream } from './openai-chat-faults.ts';
import { spokenText } from './spoken-text.ts';
import { callCollector, toolFields, wireMessage } from './tool-calls.ts';
import { withCallPolicy } from './with-policy.ts';

/** Address and timeouts of a chat server. */
export interface OpenaiChatOptions {
  /** Includes the version, for example `http://localhost:11434/v1`. */
  readonly baseUrl: string;
  readonly model: string;
  /** Empty or absent if the server needs none. */
  readonly apiKey?: string;
  readonly firstTokenTimeoutMs?: number;
  /** Longest pause between two tokens. */
  readonly stallTimeoutMs?: number;
  /** Further fields of the request body, such as `stop`. */
  readonly extra?: Readonly<Record<string, unknown>>;
  /** The server's way to continue a message of the assistant. Default: found by its host and its list of models. */
  readonly continues?: Continuation | 'never' | undefined;
  /** Setting names for error messages; the environment variables by default. */
  readonly settingNames?: SettingNames;
}

const settings = z.strictObject({
  /** Includes the version, for example `http://localhost:11434/v1`. */
  baseUrl: baseUrlSchema,
  model: z.string().min(1),
  /** Further fields of the request body, such as `{"stop": ["<|eot_id|>"]}`. */
  extra: z.record(z.string(), z.unknown()).default({}),
  /** The server's way to continue a reply that a restart has cut. Default: found for vLLM, SGLang, llama.cpp, Mistral, DeepSeek. */
  continues: z.enum([...continuations, 'never']).optional(),
});

export type OpenaiChatSettings = z.infer<typeof settings>;

/** A chat model behind any OpenAI-compatible server. */
export const adapter: Adapter<ChatModel, OpenaiChatSettings> = {
  settings,
  // Retries are done here, since only this adapter knows how to change a request.
  callPolicy: () => ({ concurrency: 16, retries: 0, timeouts: { firstByteMs: 15_000, betweenBytesMs: 10_000 } }),
  open(chosen, context) {
    const { timeouts, calls, key, settingNames } = context;
    const model = openOpenaiChat({
      ...chosen,
      ...(key === undefined ? {} : { apiKey: key }),
      firstTokenTimeoutMs: timeouts.firstByteMs,
      stallTimeoutMs: timeouts.betweenBytesMs,
      settingNames,
    });
    return {
      ...withCallPolicy(model, calls),
      check: (options: CallOptions) => checkOpenaiModel(context, chosen, options),
    };
  },
};

/** Parameters that some servers or models refuse; each is omitted for good once refused. */
const optionalParameters = [
  'stream_options',
  'max_tokens',
  'temperature',
  'top_p',
  'seed',
  'stop',
  'parallel_tool_calls',
] as const;

/** Streams; an abort closes the connection at once. A call that fails before its first token may be retried once. */
export function openOpenaiChat(options: OpenaiChatOptions): ChatModel {
  const { model, firstTokenTimeoutMs = 15_000, stallTimeoutMs = 10_000 } = options;
  const client = clientOf(options);
  const declined = new Set<string>();
  const continuing = openContinuing(client, options.continues);

  return {
    name: model,
    async *chat(messages, wanted) {
      let call = wanted;
      let retried = false;
      let how = wanted.begun === undefined ? undefined : await continuing.wayFor(wanted);
      for (;;) {
        call.signal.throwIfAborted();
        let begun = false;
        const whole = requestBody(options, messages, call, declined);
        const body = how === undefined ? whole : continuingBody(whole, wanted.begun ?? '', how);
        try {
          const sent = how === undefined ? { ...call, begun: undefined } : call;
          const made = streamOnce(client, body, sent, { ...options, firstTokenTimeoutMs, stallTimeoutMs });
          for await (const part of how === undefined ? made : withBeginning(made, wanted.begun ?? '')) {
            begun = true;
            yield part;
          }
          return;
        } catch (cause) {
          call.signal.throwIfAborted();
          if (begun) throw faultOf(cause, options);
          const parameter = declinedParameter(
            cause,
            optionalParameters.filter((name) => name in body),
          );
          if (parameter !== undefined) {
            declined.add(parameter);
            continue;
          }
          if (how !== undefined && isRefusal(cause)) {
            continuing.decline();
            how = undefined;
            continue;
          }
          // The model does not support tools, or rejects a schema: go on without tools.
          if (call.toolbox !== undefined && isRefusal(cause)) {
            const { toolbox: _refused, ...without } = call;
            call = without;
            continue;
          }
          const fault = faultOf(cause, options);
          // A timeout is not tried again: the user has waited long enough.
          const pauseMs = retried || cause === fault ? undefined : pauseBeforeNext(fault);
          if (pauseMs === undefined) throw fault;
          retried = true;
          // If aborted, the loop head throws the caller's own reason.
          await pause(pauseMs, undefined, { signal: call.signal }).catch(() => {});
        }
      }
    },
  };
}

function clientOf(options: OpenaiChatOptions): OpenAI {
  return new OpenAI({
    baseURL: options.baseUrl,
    // The SDK requires a key; local servers ignore it.
    apiKey: options.apiKey === undefined || options.apiKey === '' ? 'none' : options.apiKey,
    // Null, so that the SDK does not read them from the environment.
    adminAPIKey: null,
    organization: null,
    project: null,
    maxRetries: 0,
    logLevel: 'off',
  });
}

type Body = OpenAI.ChatCompletionCreateParamsStreaming;

function requestBody(
  { model, extra }: OpenaiChatOptions,
  messages: readonly Message[],
  settings: ChatSettings,
  declined: Set<string>,
): Body {
  const { maxTokens, temperature, topP, seed, stop, toolbox } = settings;
  const wanted: Partial<Body> = {
    ...toolFields(toolbox),
    stream_options: { include_usage: true },
    ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(seed === undefined ? {} : { seed }),
    ...(stop === undefined ? {} : { stop: [...stop] }),
  };
  const accepted = Object.fromEntries(Object.entries(wanted).filter(([name]) => !declined.has(name)));
  return {
    model,
    messages: messages.map(wireMessage),
    stream: true,
    ...extra,
    ...accepted,
    ...(declined.has('max_tokens') && maxTokens !== undefined ? { max_completion_tokens: maxTokens } : {}),
  };
}

/** Sends one request. Throws errors unconverted, except a timeout, which is an `EngineError`. */
async function* streamOnce(
  client: OpenAI,
  body: Body,
  call: CallOptions & Omit<ChatSettings, 'begun'> & { readonly begun?: string | undefined },
  limits: OpenaiChatOptions & { readonly firstTokenTimeoutMs: number; readonly stallTimeoutMs: number },
): AsyncGenerator<ChatPart> {
  const watch = new Watch(body.model, limits.firstTokenTimeoutMs);
  const signal = AbortSignal.any([call.signal, watch.signal]);
  const spoken = spokenText({ continues: call.begun !== undefined });
  const collector = callCollector(call.toolbox);
  let usage = { inputTokens: 0, outputTokens: 0 };
  let finish: string | undefined;
  try {
    const { data, response } = await client.chat.completions.create(body, { signal }).withResponse();
    if (/html/.test(response.headers.get('content-type') ?? '')) throw notAStream(limits);
    for await (const chunk of data) {
      const news = readChunk(chunk);
      usage = news.usage ?? usage;
      finish = news.finish ?? finish;
      if (collector.add(news.calls) || news.isProgress) watch.restart(limits.stallTimeoutMs);
      const text = spoken.add(news.content);
      if (text !== '') {
        // Time that the consumer takes does not count.
        watch.stop();
        yield { type: 'text-delta', text };
        watch.restart(limits.stallTimeoutMs);
      }
      if (spoken.hasEnded()) {
        finish = 'stop';
        break;
      }
    }
    // The SDK ends a stream without an error if its signal is aborted.
    signal.throwIfAborted();
    if (finish === undefined) throw watch.progressed ? brokenOff({ name: limits.model }) : notAStream(limits);
    const rest = spoken.rest();
    if (rest !== '') yield { type: 'text-delta', text: rest };
    for (const toolCall of collector.calls()) yield { type: 'tool-call', ...toolCall };
    yield { type: 'chat-end', reason: endOf(finish), ...usage };
  } catch (cause) {
    signal.throwIfAborted();
    throw cause;
  } finally {
    watch.end();
  }
}

/** Watchdog: aborts a request with an `EngineError` on timeout, and when it is no longer read. */
class Watch {
  readonly #model: string;
  readonly #controller = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  progressed = false;

  constructor(model: string, firstTokenTimeoutMs: number) {
    this.#model = model;
    this.#arm(firstTokenTimeoutMs, 'no token');
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  restart(limitMs: number): void {
    this.progressed = true;
    this.#arm(limitMs, 'no further token');
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  end(): void {
    this.stop();
    this.#controller.abort();
  }

  #arm(limitMs: number, what: string): void {
    this.stop();
    const detail = `${what} within ${limitMs / 1_000} s. Is the server overloaded, or still loading the model?`;
    this.#timer = setTimeout(() => {
      this.#controller.abort(new EngineError(this.#model, 'ENGINE_TIMEOUT', detail));
    }, limitMs);
  }
}

/** Reads one chunk; servers omit, or set to null, nearly everything. */
function readChunk(chunk: ChatCompletionChunk | null): {
  readonly content: string;
  readonly calls: unknown;
  readonly isProgress: boolean;
  readonly finish: string | undefined;
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number } | undefined;
} {
  const choice = chunk?.choices?.[0];
  const delta: { readonly [field: string]: unknown } = { ...choice?.delta };
  const filled = (field: string): boolean => typeof delta[field] === 'string' && delta[field] !== '';
  const finish = choice?.finish_reason ?? undefined;
  return {
    content: typeof delta['content'] === 'string' ? delta['content'] : '',
    calls: delta['tool_calls'],
    // Reasoning counts as progress too; the empty first delta with the role, and pings, do not.
    isProgress: finish !== undefined || ['content', 'reasoning_content', 'reasoning'].some(filled),
    finish,
    usage: chunk?.usage
      ? { inputTokens: chunk.usage.prompt_tokens ?? 0, outputTokens: chunk.usage.completion_tokens ?? 0 }
      : undefined,
  };
}

function endOf(finish: string): ChatEnd {
  if (finish === 'length') return 'length';
  return finish === 'content_filter' ? 'filter' : 'stop';
}
