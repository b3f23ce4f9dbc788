import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { CutShort } from '../../agents/agent.ts';
import type { Character } from '../../characters/character.ts';
import { EngineError } from '../../voices/engine.ts';
import { errorObject } from '../session/contract/errors.ts';
import { systemClock } from '../session/contract/clock.ts';
import type { Problem } from '../session/contract/events.ts';
import type { SpokenPart } from '../session/contract/responder.ts';
import { TurnTimings } from '../session/contract/turn-timings.ts';
import { rated } from '../responders/rated.ts';
import type { AuthGuard } from '../http/auth-guard.ts';
import { sendProblem } from '../http/problem.ts';
import { characterFor, noSuchCharacter } from '../connections/caller-choice.ts';
import { parseBody } from '../http/request-body.ts';
import { answer, withFirstItem } from './answer.ts';
import { chatSchema, samplingOf, splitMessages, type ChatRequest } from './chat-request.ts';
import type { RestParts } from './rest.ts';

/** Metadata of a reply, collected while its text streams. */
interface Outcome {
  mind: { readonly name: string; readonly because?: string } | null;
  inputTokens: number;
  outputTokens: number;
  cutShort: CutShort;
}

/** `POST /v1/chat/completions`: a character as the chat model, streamed or not. */
export function addChat(app: FastifyInstance, parts: RestParts, auth: AuthGuard): void {
  app.post('/v1/chat/completions', { onRequest: auth.work, bodyLimit: 4 * 2 ** 20 }, async (request, reply) => {
    const parsed = parseBody(chatSchema, request.body);
    if ('problem' in parsed) return sendProblem(reply, 400, parsed.problem);
    const wanted = parsed.body;
    const character = characterFor(wanted.model, parts);
    if (character === undefined) {
      return sendProblem(reply, 404, { ...noSuchCharacter(wanted.model, parts), param: 'model' });
    }
    return answer(request, reply, async (signal) => {
      const outcome: Outcome = { mind: null, inputTokens: 0, outputTokens: 0, cutShort: false };
      const words = await withFirstItem(wordsOf(replyTo(wanted, character, parts, signal), outcome));
      const head = { id: `chatcmpl-${randomBytes(12).toString('base64url')}`, created: Math.floor(Date.now() / 1000) };
      const model = wanted.model ?? character.id;
      if (wanted.stream !== true) return whole({ ...head, model }, (await Array.fromAsync(words)).join(''), outcome);
      const withUsage = wanted.stream_options?.include_usage === true;
      const events = streamed({ ...head, model }, words, { outcome, withUsage, signal, log: request.log });
      reply.header('cache-control', 'no-cache').type('text/event-stream; charset=utf-8');
      return reply.send(Readable.from(events, { objectMode: false }));
    });
  });
}

function replyTo(
  wanted: ChatRequest,
  character: Character,
  { engines, config, judge }: RestParts,
  signal: AbortSignal,
): AsyncIterable<SpokenPart> {
  const { history, scene } = splitMessages(wanted.messages);
  const maxTokens = wanted.max_completion_tokens ?? wanted.max_tokens ?? undefined;
  const speaking =
    judge === undefined ? engines : rated(engines, config.rating, { judge, onKeptBack: () => undefined });
  return speaking.responderFor(character).reply(history, {
    signal,
    speaks: false,
    scene,
    speed: 1,
    trace: new TurnTimings(systemClock),
    sampling: samplingOf(wanted),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(history.length === 0 ? { situation: 'greeting' } : {}),
  });
}

/** Yields the text of a reply; writes the rest into `outcome`. */
async function* wordsOf(parts: AsyncIterable<SpokenPart>, outcome: Outcome): AsyncGenerator<string> {
  for await (const part of parts) {
    if (part.type === 'text') yield part.text;
    if (part.type === 'reply-source') {
      outcome.mind = { name: part.name, ...(part.because === undefined ? {} : { because: part.because }) };
    }
    if (part.type === 'usage') Object.assign(outcome, part);
  }
}

interface Head {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

function whole(head: Head, content: string, outcome: Outcome): Record<string, unknown> {
  const message = { role: 'assistant', content, refusal: null };
  return {
    ...head,
    object: 'chat.completion',
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason(outcome) }],
    usage: usageOf(outcome),
    x_dramatis: { mind: outcome.mind },
  };
}

async function* streamed(
  head: Head,
  words: AsyncIterable<string>,
  {
    outcome,
    withUsage,
    signal,
    log,
  }: { outcome: Outcome; withUsage: boolean; signal: AbortSignal; log: FastifyBaseLogger },
): AsyncGenerator<string> {
  const event = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`;
  const chunk = (choices: readonly unknown[], more: Record<string, unknown> = {}): string =>
    event({ ...head, object: 'chat.completion.chunk', choices, ...more });
  const choice = (delta: Record<string, unknown>, finish_reason: string | null = null): unknown[] => [
    { index: 0, delta, logprobs: null, finish_reason },
  ];
  try {
    yield chunk(choice({ role: 'assistant', content: '', refusal: null }));
    for await (const content of words) yield chunk(choice({ content }));
    yield chunk(choice({}, finishReason(outcome)), { x_dramatis: { mind: outcome.mind } });
    if (withUsage) yield chunk([], { usage: usageOf(outcome) });
    yield 'data: [DONE]\n\n';
  } catch (fault) {
    if (signal.aborted) return;
    log.error({ fault: fault instanceof Error ? fault.stack : String(fault) }, 'reply failed');
    const problem: Problem =
      fault instanceof EngineError
        ? { code: fault.code, message: fault.detail }
        : { code: 'internal_error', message: 'The reply failed before it was complete.' };
    const { event_id: _unused, ...error } = errorObject(problem);
    yield event({ error });
  }
}

function finishReason({ cutShort }: Outcome): 'length' | 'content_filter' | 'stop' {
  return cutShort === false ? 'stop' : cutShort === 'filter' ? 'content_filter' : 'length';
}

function usageOf({ inputTokens, outputTokens }: Outcome): Record<string, unknown> {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
}
