import type { FastifyReply, FastifyRequest } from 'fastify';
import { errorObject } from '../session/contract/errors.ts';
import type { Problem } from '../session/contract/events.ts';

/** A refusal before any work is done: HTTP status and coded reason. */
export interface Refusal {
  readonly status: 400 | 401 | 403 | 404 | 429 | 503;
  readonly problem: Problem;
  /** Seconds after which a retry makes sense. */
  readonly retryAfterSeconds?: number;
}

/** Answers a request with an error in OpenAI's format. */
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

/** Answers a request for a path that does not exist. */
export async function sendNotFound(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const message = `There is no ${request.url.slice(0, 200)} on this server.`;
  return sendProblem(reply, 404, { code: 'not_found', message });
}
