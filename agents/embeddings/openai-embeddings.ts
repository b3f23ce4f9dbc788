import { z } from 'zod';
import { addressOf, baseUrlSchema, bearer } from '../../voices/calls/base-url.ts';
import type { Adapter } from '../../voices/calls/context.ts';
import { badReply } from '../../voices/calls/http-faults.ts';
import { sendForJson } from '../../voices/calls/http.ts';
import { checkOpenaiModel } from '../../voices/calls/openai-models.ts';
import { firstTokens } from '../llm/token-estimate.ts';
import { unitOf, type Embedder } from './embedder.ts';

/** Texts in one request: the limit of small servers; OpenAI's is 2,048. */
const batchSize = 64;
/** Input limit of small models (BGE, E5), 512 tokens, by our cautious estimate; some servers refuse longer texts. */
const readTokens = 400;

const settings = z.strictObject({
  /** Includes the version, for example `http://localhost:11434/v1`. */
  baseUrl: baseUrlSchema,
  model: z.string().min(1),
});

const reply = z.object({
  data: z.array(z.object({ index: z.number().int().min(0), embedding: z.array(z.number()).min(1).max(16_384) })),
  usage: z.object({ prompt_tokens: z.number() }).partial().nullish(),
});

/** Embeddings of any OpenAI-compatible server (`POST /embeddings`): OpenAI, Ollama, vLLM, llama.cpp, LM Studio. */
export const adapter: Adapter<Embedder, z.infer<typeof settings>> = {
  settings,
  callPolicy: () => ({ concurrency: 4, retries: 1, timeouts: { firstByteMs: 15_000, betweenBytesMs: 10_000 } }),
  open(chosen, context) {
    const { name, key, calls } = context;
    const url = addressOf(chosen.baseUrl, '/embeddings');
    let dimensions: number | undefined;
    return {
      name,
      model: chosen.model,
      async embed(texts, options) {
        const embeddings: Float32Array[] = [];
        for (let from = 0; from < texts.length; from += batchSize) {
          const input = texts.slice(from, from + batchSize).map((text) => firstTokens(text, readTokens));
          const batch = await calls.once(async ({ signal, meter }) => {
            const json = { model: chosen.model, input, encoding_format: 'float' };
            const answer = await sendForJson(context, { url, json, headers: bearer(key) }, { signal });
            const parsed = reply.safeParse(answer);
            if (!parsed.success) throw badReply(context, 'no embeddings');
            meter.inputTokens = parsed.data.usage?.prompt_tokens ?? 0;
            const found = parsed.data.data.toSorted((left, right) => left.index - right.index);
            const isWhole = found.length === input.length && found.every(({ index }, at) => index === at);
            if (!isWhole) throw badReply(context, 'a wrong number of embeddings');
            dimensions ??= found[0]?.embedding.length;
            if (found.some(({ embedding }) => embedding.length !== dimensions))
              throw badReply(context, 'embeddings of different lengths');
            return found.map(({ embedding }) => unitOf(embedding));
          }, options);
          embeddings.push(...batch);
        }
        return embeddings;
      },
      check: (options) => checkOpenaiModel(context, chosen, options),
    };
  },
};
