import type { FastifyReply } from 'fastify';
import { errorObject } from '../session/contract/errors.ts';
import type { Problem } from '../session/contract/events.ts';

/** A refusal before anything is done: the HTTP status and the coded reason. */
export interface Refusal {
  readonly status: 400 | 401 | 403 | 404 | 429 | 503;
  readonly problem: Problem;
  /** When it is worth asking again, in seconds. */
  readonly retryAfterSeconds?: number;
}

/** Answers a request with an error in the shape of the OpenAI APIs. */
export function sendProblem(
  reply: FastifyReply,
  status: number,
  problem: Problem,
  retryAfterSeconds?: number,
): FastifyReply {
  const { event_id: _unused, ...error } = errorObject(problem);
  if (retryAfterSeconds !== undefined) reply.header('retry-after', Math.max(1, Math.ceil(retryAfterSeconds)));
  return reply.code(status).type('application/json').send({ error });
}

/** Answers a request with a refusal. */
export function sendRefusal(reply: FastifyReply, refusal: Refusal): FastifyReply {
  return sendProblem(reply, refusal.status, refusal.problem, refusal.retryAfterSeconds);
}
