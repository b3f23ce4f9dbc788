import { z } from 'zod';
import type { Message } from '../../../agents/chat.ts';
import { limits } from '../../protocol/limits.ts';

const text = z.string().max(limits.textCharacters);

/** What `POST /v1/chat/completions` understands. Whatever else a client sends is let through and has no effect. */
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
  n: z.number().int().min(1).max(1).nullish(),
});

export type ChatRequest = z.infer<typeof chatSchema>;

/** The talk, and what lies under the persona as its scene. */
export function talkOf(messages: ChatRequest['messages']): { history: readonly Message[]; scene: string } {
  const history: Message[] = [];
  const scene: string[] = [];
  for (const { role, content } of messages) {
    const said = typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join('');
    if (role === 'system' || role === 'developer') scene.push(said);
    // Results of tools the character never called are nothing it could know.
    if (role === 'user' || role === 'assistant') history.push({ role, text: said });
  }
  return { history, scene: scene.join('\n') };
}
