import { z } from 'zod';
import { openContext } from '../../../voices/calls/context.ts';
import { sendForJson } from '../../../voices/calls/http.ts';
import { badReply } from '../../../voices/calls/http-faults.ts';
import { EngineError, type CallOptions } from '../../../voices/engine.ts';
import type { DataSampling } from './stage.ts';

export interface TextMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** Identity of a call: an answer is kept under it. */
export interface CallKey {
  readonly stage: string;
  readonly record: string;
  readonly part: string;
  /** Number from 0; `0-repair` and `0-continue` are follow-ups of attempt 0. */
  readonly attempt: string;
}

export interface TextRequest extends CallKey {
  readonly messages: readonly TextMessage[];
  readonly sampling: DataSampling;
}

/** A model's reply, whole. */
export interface TextReply {
  readonly text: string;
  readonly finish: 'stop' | 'length' | 'filter';
  /** Model that answered, by the server's word; null if it does not say. */
  readonly model: string | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** A text model that builds data. Throws `EngineError`, or `signal.reason`. */
export interface TextModel {
  readonly name: string;
  complete(request: TextRequest, options: CallOptions): Promise<TextReply>;
}

const completion = z.object({
  model: z.string().nullish(),
  choices: z
    .array(
      z.object({
        message: z.object({ content: z.string().nullish(), refusal: z.string().nullish() }),
        finish_reason: z.string().nullish(),
      }),
    )
    .min(1),
  usage: z.object({ prompt_tokens: z.number(), completion_tokens: z.number() }).partial().nullish(),
});

export interface TextModelSettings {
  readonly baseUrl: string;
  readonly model: string;
  readonly key?: string | undefined;
}

/** Opens a model behind any OpenAI-compatible chat server. Leaves out sampling parameters that the server refuses. */
export function openTextModel({ baseUrl, model, key }: TextModelSettings): TextModel {
  const upstream = openContext(model, {
    key,
    callPolicy: [{ timeouts: { connectMs: 10_000, firstByteMs: 300_000, betweenBytesMs: 60_000 } }],
    settingNames: { baseUrl: '--model', model: '--model', key: 'the variable that --key-env names' },
  });
  const url = `${baseUrl.replace(/\/+$/, '')}/chat/completions`;
  const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const declined = new Set<string>();
  return {
    name: model,
    async complete({ messages, sampling }, options) {
      const { temperature, topP, maxTokens } = sampling;
      const wanted = Object.entries({ temperature, top_p: topP, max_tokens: maxTokens });
      for (;;) {
        const kept = wanted.filter(([name, value]) => value !== undefined && !declined.has(name));
        const json = { model, messages, ...Object.fromEntries(kept) };
        try {
          const parsed = completion.safeParse(await sendForJson(upstream, { url, json, headers }, options));
          if (!parsed.success) throw badReply(upstream, 'no chat completion');
          return replyOf(parsed.data);
        } catch (fault) {
          if (!(fault instanceof EngineError) || (fault.status !== 400 && fault.status !== 422)) throw fault;
          if (/content_(?:filter|policy)/.test(fault.detail))
            return { text: '', finish: 'filter', model: null, inputTokens: 0, outputTokens: 0 };
          const last = kept.at(-1)?.[0];
          if (last === undefined) throw fault;
          declined.add(last);
        }
      }
    },
  };
}

function replyOf({ model, choices, usage }: z.infer<typeof completion>): TextReply {
  const [choice] = choices;
  const text = choice?.message.content ?? '';
  const isFiltered = choice?.finish_reason === 'content_filter' || (text === '' && Boolean(choice?.message.refusal));
  return {
    text,
    finish: isFiltered ? 'filter' : choice?.finish_reason === 'length' ? 'length' : 'stop',
    model: model ?? null,
    inputTokens: usage?.prompt_tokens ?? 0,
    outputTokens: usage?.completion_tokens ?? 0,
  };
}
