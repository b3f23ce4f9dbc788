import { z } from 'zod';
import { modelsIn } from '../construction/cli/models.ts';
import type { RunFacts } from '../jobs/run-facts.ts';
import type { OpenedWork, WorkServices } from './open-run.ts';

const about = z.object({
  model: z.string(),
  keyName: z.string().optional(),
  retries: z.number().optional(),
  concurrency: z.number(),
  prices: z.object({ input: z.number(), output: z.number() }),
  stages: z.array(z.string()),
});

const work = z.object({
  stage: z.string(),
  request: z.object({
    messages: z.array(z.object({ role: z.enum(['system', 'user', 'assistant']), content: z.string() })),
    sampling: z.record(z.string(), z.number()),
  }),
});

/** Opens the models of a build. Throws an `EvalError` if their key is not set here. */
export async function openBuildWork(facts: RunFacts, { host }: WorkServices): Promise<OpenedWork> {
  const { model, keyName, retries, ...limits } = about.parse(facts.about);
  const modelOf = modelsIn({ model, keyName, retries }, limits, host);
  return {
    async work(_kind, ask, { signal, throwIfStopped, spend }) {
      const { stage, request } = work.parse(ask);
      const { model, endpoint, prices } = modelOf(stage);
      const key = { stage, record: '', part: '', attempt: '' };
      return endpoint.call(
        async (options) => {
          const reply = await model.complete({ ...key, ...request }, options);
          spend((reply.inputTokens * prices.input + reply.outputTokens * prices.output) / 1e6);
          return reply;
        },
        { signal, throwIfStopped },
      );
    },
    close: () => Promise.resolve(),
  };
}
