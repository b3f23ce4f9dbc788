import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { EngineError } from '../../voices/engine.ts';
import { planConnection, saveConnection, type LlmConnection } from '../engines/connected-llm.ts';
import { findLlmServers, isPrivateUrl, listLlmModels } from '../engines/llm-servers.ts';
import { openChat } from '../engines/open-planned.ts';
import type { AuthGuard } from '../http/auth-guard.ts';
import { sendProblem } from '../http/problem.ts';
import { parseBody } from '../http/request-body.ts';
import { answer } from './answer.ts';
import type { RestParts } from './rest.ts';

/** A model may have to be loaded before its first word. */
const testTimeoutMs = 60_000;

const url = z.string().max(300).refine(isPrivateUrl, {
  message:
    'must be an http address of this machine or of a private network, such as http://localhost:11434/v1; name another server with DRAMATIS_LLM_BASE_URL',
});
const key = z
  .string()
  .max(500)
  .optional()
  .transform((given) => given || undefined);

const serverSchema = z.strictObject({ url, key });
const connectionSchema = z.strictObject({ url, key, model: z.string().min(1).max(200) });

/**
 * Adds the routes by which the page connects an LLM: `GET /llm` returns the current one; `GET /llm/servers` finds the
 * servers of this machine; `POST /llm/models` lists the models of one; `POST /llm/test` asks it for a few words; `PUT
 * /llm` tests and connects it; `DELETE /llm` goes back to the settings. All are for administrators.
 */
export function addLlm(app: FastifyInstance, { config, engines }: RestParts, auth: AuthGuard): void {
  const guard = { onRequest: auth.admin, bodyLimit: 4_096 };
  const state = () => ({ model: engines.llm?.model ?? null, host: engines.llm?.host ?? null });

  app.get('/llm', guard, async () => state());

  app.get('/llm/servers', guard, (request, reply) =>
    answer(request, reply, async (signal) => ({ servers: await findLlmServers(signal) })),
  );

  app.post('/llm/models', guard, async (request, reply) => {
    const parsed = parseBody(serverSchema, request.body);
    if ('problem' in parsed) return sendProblem(reply, 400, parsed.problem);
    const { url: asked, key: given } = parsed.body;
    return answer(request, reply, async (signal) => ({ models: await listLlmModels(asked, given, signal) }));
  });

  app.post('/llm/test', guard, async (request, reply) => {
    const parsed = parseBody(connectionSchema, request.body);
    if ('problem' in parsed) return sendProblem(reply, 400, parsed.problem);
    return answer(request, reply, (signal) => tryOut(parsed.body, signal));
  });

  app.put('/llm', guard, async (request, reply) => {
    const parsed = parseBody(connectionSchema, request.body);
    if ('problem' in parsed) return sendProblem(reply, 400, parsed.problem);
    return answer(request, reply, async (signal) => {
      await tryOut(parsed.body, signal);
      return connect(parsed.body);
    });
  });

  app.delete('/llm', guard, (request, reply) => answer(request, reply, () => connect(undefined)));

  const connect = async (connection: LlmConnection | undefined) => {
    await engines.connectLlm?.(connection);
    saveConnection(config.dataDir, connection);
    return state();
  };
}

/** Asks the model for a few words. Throws the `EngineError` of the call. */
async function tryOut(connection: LlmConnection, signal: AbortSignal): Promise<{ text: string; ms: number }> {
  const { engine } = await openChat(planConnection(connection));
  const startedMs = performance.now();
  const limited = AbortSignal.any([signal, AbortSignal.timeout(testTimeoutMs)]);
  let text = '';
  try {
    const messages = [{ role: 'user' as const, text: 'Say hello in one short sentence.' }];
    for await (const part of engine.chat(messages, { signal: limited, maxTokens: 40 }))
      if (part.type === 'text-delta') text += part.text;
  } catch (cause) {
    if (signal.aborted || !limited.aborted) throw cause;
    throw new EngineError(connection.model, 'ENGINE_TIMEOUT', 'the model did not finish a sentence in time', cause);
  } finally {
    await engine.close?.();
  }
  return { text: text.trim().slice(0, 300), ms: Math.round(performance.now() - startedMs) };
}
