import { z } from 'zod';
import type { Message, Sampling } from '../../agents/chat.ts';
import { limits } from '../protocol/limits.ts';

/** One string or up to four, as in OpenAI's API. */
const stop = z.preprocess(
  (value) => (typeof value === 'string' ? [value] : value),
  z.array(z.string().min(1).max(256)).max(4).nullish(),
);

const text = z.string().max(limits.textCharacters);

/** The fields of `POST /v1/chat/completions` that are used. Other fields are accepted and ignored. */
export const chatSchema = z.looseObject({
  model: z.string().max(256).optional(),
  messages: z
    .array(
      z.looseObject({
        role: z.enum(['system', 'developer', 'user', 'assistant', 'tool', 'function']),
        content: z
          .union([text, z.array(z.looseObject({ type: z.string(), text: text.optional() })).max(limits.listLength)])
          .nullish(),
      }),
    )
    .min(1)
    .max(1_000),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().optional() }).nullish(),
  max_tokens: z.number().int().min(1).nullish(),
  max_completion_tokens: z.number().int().min(1).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  seed: z.number().int().nullish(),
  stop,
  n: z.number().int().min(1).max(1).nullish(),
});

export type ChatRequest = z.infer<typeof chatSchema>;

/** Sampling parameters of a request. */
export function samplingOf({ temperature, top_p: topP, seed, stop }: ChatRequest): Sampling {
  return {
    ...(typeof temperature === 'number' ? { temperature } : {}),
    ...(typeof topP === 'number' ? { topP } : {}),
    ...(typeof seed === 'number' ? { seed } : {}),
    ...(stop == null || stop.length === 0 ? {} : { stop }),
  };
}

/** Splits the messages into the conversation and the system prompts. The latter follow the persona as its scene. */
export function splitMessages(messages: ChatRequest['messages']): { history: readonly Message[]; scene: string } {
  const history: Message[] = [];
  const scene: string[] = [];
  for (const { role, content } of messages) {
    const said = typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join('');
    if (role === 'system' || role === 'developer') scene.push(said);
    // Results of tools that the character never called are not known to it.
    if (role === 'user' || role === 'assistant') history.push({ role, text: said });
  }
  return { history, scene: scene.join('\n') };
}
