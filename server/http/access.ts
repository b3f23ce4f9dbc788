import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Config } from '../config.ts';
import type { Problem } from '../session/events.ts';

/** A refusal before anything is done: the HTTP status and the coded reason. */
export interface Refusal {
  readonly status: 401 | 403;
  readonly problem: Problem;
}

const keyProtocol = 'openai-insecure-api-key.';

/** Whether a request may be served: the origin of a web page first, then the key. */
export function refusalOf(
  headers: IncomingHttpHeaders,
  config: Pick<Config, 'apiKeys' | 'allowedOrigins'>,
): Refusal | undefined {
  const { origin, host } = headers;
  if (origin !== undefined && !originAllowed(origin, host, config.allowedOrigins)) {
    const message = `The origin ${origin.slice(0, 200)} may not connect. Add it to DRAMATIS_ALLOWED_ORIGINS.`;
    return { status: 403, problem: { code: 'origin_not_allowed', message } };
  }
  if (config.apiKeys.length === 0) return undefined;
  const key = keyOf(headers);
  if (key !== undefined && config.apiKeys.some((known) => sameSecret(known, key))) return undefined;
  const message =
    key === undefined
      ? 'This server wants a key. Send `Authorization: Bearer KEY`.'
      : 'The key is not one of this server’s. Check it against DRAMATIS_API_KEYS.';
  return { status: 401, problem: { code: 'invalid_api_key', message } };
}

/** The key a client shows: as a bearer token, as Azure's `api-key`, or as a WebSocket subprotocol, where browsers must. */
function keyOf(headers: IncomingHttpHeaders): string | undefined {
  const bearer = /^Bearer\s+(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  const azure = headers['api-key'];
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((protocol) => protocol.trim());
  const subprotocol = offered.find((protocol) => protocol.startsWith(keyProtocol))?.slice(keyProtocol.length);
  return bearer ?? (typeof azure === 'string' ? azure : undefined) ?? subprotocol;
}

/** Our own page comes from the host it talks to; any other page must be allowed by name. */
function originAllowed(origin: string, host: string | undefined, allowed: readonly string[]): boolean {
  if (allowed.includes(origin) || allowed.includes('*')) return true;
  try {
    return host !== undefined && new URL(origin).host === host;
  } catch {
    return false;
  }
}

/** Compares hashes, so that neither length nor content shows in the time it takes. */
function sameSecret(known: string, given: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(known), digest(given));
}
