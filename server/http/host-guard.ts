import type { FastifyInstance } from 'fastify';
import type { Config } from '../config/config.ts';
import { isLoopback } from '../config/loopback.ts';
import { sendProblem } from './problem.ts';

type Rules = Pick<Config, 'apiKeys' | 'allowedHosts'>;

/**
 * Refuses, on every route, static files and upgrades included, a request under a name that is not ours. Without keys
 * that is any name but those of this machine and of `allowedHosts`: another name means that a page had its domain
 * resolved to our address (DNS rebinding), so that the browser takes our answers for the page's own.
 */
export function addHostGuard(app: FastifyInstance, rules: Rules): void {
  app.addHook('onRequest', async (request, reply) => {
    const { rawHeaders, headers } = request.raw;
    const count = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length;
    if (count > 1) {
      const message = 'The request has two Host headers. Send one.';
      return sendProblem(reply, 400, { code: 'invalid_event', message });
    }
    if (isOurHost(headers.host, rules)) return undefined;
    request.log.info({ code: 'host_not_allowed' }, 'request refused');
    const name = (headers.host ?? '').slice(0, 200);
    const message =
      `Without API keys this server answers to the names of its own machine only, such as localhost, not to "${name}". ` +
      'Set DRAMATIS_API_KEYS, or add the name to DRAMATIS_ALLOWED_HOSTS.';
    return sendProblem(reply, 421, { code: 'host_not_allowed', message });
  });
}

/** Returns whether a `Host` header names this server. With keys any name does: a page that is rebound has no key. */
export function isOurHost(host: string | undefined, { apiKeys, allowedHosts }: Rules): boolean {
  if (apiKeys.length > 0) return true;
  const name = /^(\[[\d.:a-f]+\]|[\w.-]+)(?::\d+)?$/i.exec(host ?? '')?.[1]?.toLowerCase();
  if (name === undefined) return false;
  return isLoopback(name) || name.endsWith('.localhost') || allowedHosts.some((each) => each.toLowerCase() === name);
}
