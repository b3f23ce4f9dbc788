import type { z } from 'zod';
import { EngineError, type CallOptions } from '../../voices/engine.ts';
import type { ChatModel, Message } from '../chat.ts';
import { jsonIn } from './find-json.ts';

/** A question to answer in JSON, and the limit of the answer. */
export interface Question<Answer> extends CallOptions {
  readonly system: string;
  readonly text: string;
  readonly schema: z.ZodType<Answer>;
  readonly maxTokens?: number;
}

const attempts = 3;

/**
 * Asks a model for one JSON object, however it is wrapped (`jsonIn`). An answer that is no JSON or does not match the
 * schema is asked for again, with the problem stated, at most twice; then throws `EngineError` with `ENGINE_BAD_REPLY`.
 */
export async function askForJson<Answer>(model: ChatModel, question: Question<Answer>): Promise<Answer> {
  const { system, text, schema, maxTokens = 1_500, signal } = question;
  const asked: Message[] = [
    { role: 'system', text: system },
    { role: 'user', text },
  ];
  let wrong = '';
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const again: Message[] = wrong === '' ? [] : [{ role: 'user', text: `${text}\n\n${wrong} Answer with JSON only.` }];
    const messages = again.length === 0 ? asked : [...asked.slice(0, 1), ...again];
    let answer = '';
    for await (const part of model.chat(messages, { signal, temperature: 0, maxTokens }))
      if (part.type === 'text-delta') answer += part.text;
    const parsed = schema.safeParse(jsonIn(answer));
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    wrong = `Your last answer could not be used: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}.`;
  }
  throw new EngineError(model.name, 'ENGINE_BAD_REPLY', `no usable JSON in ${attempts} answers. Use a larger model.`);
}
