import { openContext, type EngineContext } from '../../voices/calls/context.ts';
import { send, sendForJson } from '../../voices/calls/http.ts';
import { badReply } from '../../voices/calls/http-faults.ts';
import { serverSentEvents } from '../../voices/calls/sse.ts';
import { EngineError, type CallOptions } from '../../voices/engine.ts';
import type { Endpoint } from '../limits.ts';
import type { EvalContext } from '../task.ts';
import { judgeDialects, type JudgeDialectName } from './message.ts';

/** Address, model and credentials of a judge. */
export interface JudgeSettings {
  /** Base URL including the version, such as `https://generativelanguage.googleapis.com/v1beta/openai`. */
  readonly baseUrl: string;
  readonly model: string;
  readonly dialect: JudgeDialectName;
  readonly key?: string | undefined;
  /** US dollars per million tokens. */
  readonly prices: { readonly input: number; readonly audio: number; readonly output: number };
}

/** One request to a judge. */
export interface JudgeQuestion {
  /** Left out if empty. */
  readonly system: string;
  /** Earlier messages of the conversation. */
  readonly history?: readonly { readonly role: 'user' | 'assistant'; readonly content: string }[];
  /** The user message: text, or its parts. */
  readonly content: string | readonly object[];
  /** Server default if absent. */
  readonly maxTokens?: number | undefined;
  /** Server default if absent. */
  readonly temperature?: number | undefined;
  /** JSON schema of the answer; free text if absent. */
  readonly schema?: object | undefined;
}

/** A judge's answer, unabridged. */
export interface JudgeReply {
  readonly text: string;
  /** Reason if the server or the model declined to judge this. */
  readonly refusal: string | null;
  readonly finish: string | null;
  /** Model that actually answered, if the server reports it. */
  readonly model: string | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  /** Parameters left out because the server rejects them: `temperature`, `response_format`. */
  readonly without?: readonly string[];
}

/** A model on a chat server: it judges recordings or texts, or plays a part in a conversation. */
export interface Judge {
  readonly name: string;
  readonly dialect: JudgeDialectName;
  ask(question: JudgeQuestion, context: Pick<EvalContext, 'signal' | 'throwIfStopped' | 'spend'>): Promise<JudgeReply>;
}

interface Completion {
  readonly model?: string;
  readonly choices?: readonly {
    readonly message?: { readonly content?: unknown; readonly refusal?: string | null };
    readonly delta?: { readonly content?: unknown; readonly refusal?: string | null };
    readonly finish_reason?: string | null;
  }[];
  readonly usage?: {
    readonly prompt_tokens?: number;
    readonly completion_tokens?: number;
    readonly prompt_tokens_details?: { readonly audio_tokens?: number } | null;
  } | null;
}

/** Opens a judge behind any OpenAI-compatible server with audio input. Reports the cost of each call to `spend`. */
export function openJudge(settings: JudgeSettings, endpoint: Endpoint): Judge {
  const upstream = openContext('judge', {
    key: settings.key,
    // Same timeout as the reference implementation.
    callPolicy: [{ timeouts: { connectMs: 10_000, firstByteMs: 300_000, betweenBytesMs: 60_000 } }],
    settingNames: { baseUrl: '--judge', model: '--judge-model', key: 'the variable that --judge-key-env names' },
  });
  const dialect = judgeDialects[settings.dialect];
  /** Parameters that this server has rejected so far. */
  const declined = new Set<string>();
  const headers: Record<string, string> = settings.key === undefined ? {} : { authorization: `Bearer ${settings.key}` };
  const url = `${settings.baseUrl.replace(/\/+$/, '')}/chat/completions`;
  const request = async (body: object, options: CallOptions): Promise<Completion> =>
    dialect.streamOnly
      ? streamed(upstream, { url, json: body, headers }, options)
      : ((await sendForJson(upstream, { url, json: body, headers }, options)) as Completion);
  return {
    name: settings.model,
    dialect: settings.dialect,
    async ask({ system, history = [], content, maxTokens, temperature, schema }, { signal, throwIfStopped, spend }) {
      const plain = {
        model: settings.model,
        messages: [
          ...(system === '' ? [] : [{ role: 'system', content: system }]),
          ...history,
          { role: 'user', content },
        ],
        ...(dialect.streamOnly ? { stream: true, stream_options: { include_usage: true }, modalities: ['text'] } : {}),
      };
      const optional = {
        ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }),
        ...(temperature === undefined ? {} : { temperature }),
        ...(schema === undefined ? {} : structured(dialect.structured, schema)),
      };
      return endpoint.call(
        async (options) => {
          const without = new Set(Object.keys(optional).filter((name) => declined.has(name)));
          for (;;) {
            const kept = Object.entries(optional).filter(([name]) => !without.has(name));
            try {
              const completion = await request({ ...plain, ...Object.fromEntries(kept) }, options);
              spend(costOf(completion, settings.prices));
              for (const name of without) declined.add(name);
              return replyIn(completion, upstream, [...without].toSorted());
            } catch (fault) {
              const refused = refusedReply(fault);
              if (refused !== undefined) return refused;
              // Audio models often reject JSON schemas, and reasoning models `temperature`; both answer 400 or 422.
              const last = kept.at(-1)?.[0];
              const isDeclined = fault instanceof EngineError && (fault.status === 400 || fault.status === 422);
              if (!isDeclined || last === undefined) throw fault;
              without.add(last);
            }
          }
        },
        { signal, throwIfStopped },
      );
    },
  };
}

function structured(how: 'json_schema' | 'json_object' | 'none', schema: object): object {
  if (how === 'none') return {};
  if (how === 'json_object') return { response_format: { type: 'json_object' } };
  return { response_format: { type: 'json_schema', json_schema: { name: 'verdict', strict: true, schema } } };
}

function replyIn(completion: Completion, upstream: EngineContext, without: readonly string[]): JudgeReply {
  const choice = completion.choices?.[0];
  const text = textOf(choice?.message?.content);
  const refusal = choice?.message?.refusal ?? null;
  if (choice === undefined || (text === '' && refusal === null && choice.finish_reason !== 'content_filter'))
    throw badReply(upstream, 'an answer without text');
  return {
    text,
    refusal: refusal ?? (choice.finish_reason === 'content_filter' ? 'content_filter' : null),
    finish: choice.finish_reason ?? null,
    model: completion.model ?? null,
    inputTokens: completion.usage?.prompt_tokens ?? null,
    outputTokens: completion.usage?.completion_tokens ?? null,
    ...(without.length === 0 ? {} : { without }),
  };
}

/** Returns a refusal if a content filter in front of the model rejected the request; undefined for any other error. */
function refusedReply(fault: unknown): JudgeReply | undefined {
  const word =
    fault instanceof EngineError ? /\b(content_filter|content_policy\w*)\b/.exec(fault.detail)?.[0] : undefined;
  if (word === undefined) return undefined;
  return { text: '', refusal: word, finish: null, model: null, inputTokens: null, outputTokens: null };
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part: { text?: unknown }) => (typeof part.text === 'string' ? part.text : '')).join('');
}

async function streamed(
  upstream: EngineContext,
  request: Parameters<typeof send>[1],
  options: CallOptions,
): Promise<Completion> {
  const { body } = await send(upstream, request, options);
  let [text, refusal] = ['', ''];
  let last: Completion = {};
  let finish: string | null = null;
  for await (const { data } of serverSentEvents(body)) {
    if (data === '[DONE]') break;
    const chunk = chunkIn(data, upstream);
    const choice = chunk.choices?.[0];
    text += textOf(choice?.delta?.content);
    refusal += choice?.delta?.refusal ?? '';
    finish = choice?.finish_reason ?? finish;
    last = { ...last, ...chunk, usage: chunk.usage ?? last.usage ?? null };
  }
  const message = { content: text, refusal: refusal === '' ? null : refusal };
  return { ...last, choices: [{ message, finish_reason: finish }] };
}

function chunkIn(data: string, upstream: EngineContext): Completion {
  try {
    return JSON.parse(data) as Completion;
  } catch {
    throw badReply(upstream, 'an event that is not JSON');
  }
}

function costOf({ usage }: Completion, prices: JudgeSettings['prices']): number {
  const audio = usage?.prompt_tokens_details?.audio_tokens ?? 0;
  const text = (usage?.prompt_tokens ?? 0) - audio;
  return (text * prices.input + audio * prices.audio + (usage?.completion_tokens ?? 0) * prices.output) / 1e6;
}
