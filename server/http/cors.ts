import type { FastifyInstance } from 'fastify';
import type { Config } from '../config/config.ts';
import { originRefusal } from './access.ts';
import { sendRefusal } from './problem.ts';

/** Response headers that a page of another origin may read. */
const readableHeaders = 'etag, location, retry-after, x-dramatis-unclear';

/** Time for which a browser may cache a preflight response: ten minutes. */
const rememberSeconds = 600;

/**
 * Lets pages of the allowed origins call the REST API too (CORS protocol of the Fetch standard, §3.2) and read error
 * responses. Keys travel with each request; cookies are never used.
 */
export function addCors(app: FastifyInstance, config: Config): void {
  app.addHook('onRequest', async (request, reply) => {
    const { origin } = request.headers;
    reply.header('vary', 'origin');
    if (origin === undefined || originRefusal(request.headers, config) !== undefined) return;
    reply.headers({ 'access-control-allow-origin': origin, 'access-control-expose-headers': readableHeaders });
  });
  app.options('/*', async (request, reply) => {
    const refusal = originRefusal(request.headers, config);
    if (refusal !== undefined) return sendRefusal(reply, refusal);
    const wanted = request.headers['access-control-request-headers'] ?? '';
    reply.headers({
      'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
      'access-control-allow-headers': /^[\w, -]{0,500}$/.test(wanted) ? wanted : '',
      'access-control-max-age': rememberSeconds,
    });
    return reply.code(204).send();
  });
}
