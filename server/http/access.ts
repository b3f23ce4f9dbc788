import type { IncomingHttpHeaders } from 'node:http';
import { accountOf } from '../config/api-keys.ts';
import type { Config } from '../config/config.ts';
import { isLoopback } from '../config/loopback.ts';
import { secretPrefix, type ClientSecret, type ClientSecrets } from './client-secrets.ts';
import type { Refusal } from './problem.ts';

type Rules = Pick<Config, 'apiKeys' | 'allowedOrigins'>;

/** The account that a request is made on, and the credential it was made with. */
export interface Access {
  /**
   * Key of the account: one server key, or all server keys that share a name. A client secret counts as the key that
   * made it. Undefined if the server needs no keys.
   */
  readonly owner: string | undefined;
  /** Set if the client sent a client secret instead of a server key. */
  readonly secret: ClientSecret | undefined;
}

const keyProtocol = 'openai-insecure-api-key.';

/**
 * Authenticates a request by server key or client secret. Returns a `Refusal` if it is not allowed. A client secret is
 * checked even if the server needs no keys.
 */
export function accessOf(headers: IncomingHttpHeaders, config: Rules, secrets: ClientSecrets): Access | Refusal {
  const key = keyOf(headers);
  const owner = key === undefined ? undefined : accountOf(key, config.apiKeys);
  if (owner !== undefined || key === undefined || !key.startsWith(secretPrefix))
    return refusalOf(headers, config) ?? { owner, secret: undefined };
  const refusal = originRefusal(headers, config);
  if (refusal !== undefined) return refusal;
  const secret = secrets.find(key);
  if (secret !== undefined) return { owner: secret.owner, secret };
  const message = 'The client secret is unknown or has expired. Make a new one with POST /v1/realtime/client_secrets.';
  return { status: 401, problem: { code: 'client_secret_expired', message } };
}

/** Returns a `Refusal` unless the request may be served. Checks the origin of a web page first, then the server key. */
export function refusalOf(headers: IncomingHttpHeaders, config: Rules): Refusal | undefined {
  const refusal = originRefusal(headers, config);
  if (refusal !== undefined || config.apiKeys.length === 0) return refusal;
  const key = keyOf(headers);
  if (key !== undefined && accountOf(key, config.apiKeys) !== undefined) return undefined;
  const message =
    key === undefined
      ? 'This server requires an API key. Send `Authorization: Bearer KEY`.'
      : 'The API key is not valid for this server. Check DRAMATIS_API_KEYS.';
  return { status: 401, problem: { code: 'invalid_api_key', message } };
}

/**
 * The key that a client sent: as a bearer token, as Azure's `api-key` header, or as a WebSocket subprotocol (browsers
 * cannot set headers there).
 */
function keyOf(headers: IncomingHttpHeaders): string | undefined {
  const bearer = /^Bearer\s+(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  const azure = headers['api-key'];
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((protocol) => protocol.trim());
  const subprotocol = offered.find((protocol) => protocol.startsWith(keyProtocol))?.slice(keyProtocol.length);
  return bearer ?? (typeof azure === 'string' ? azure : undefined) ?? subprotocol;
}

/** Returns a `Refusal` if the request comes from a web page of an origin that is not allowed. */
export function originRefusal({ origin, host }: IncomingHttpHeaders, rules: Rules): Refusal | undefined {
  if (origin === undefined || originAllowed(origin, host, rules)) return undefined;
  const message = `The origin ${origin.slice(0, 200)} is not allowed. Add it to DRAMATIS_ALLOWED_ORIGINS.`;
  return { status: 403, problem: { code: 'origin_not_allowed', message } };
}

/**
 * Our own page has the same host as the server; any other origin must be in the list of allowed origins. Without keys,
 * our own host must be loopback: any other name means that a page had its domain resolved to our address (DNS
 * rebinding).
 */
function originAllowed(origin: string, host: string | undefined, { apiKeys, allowedOrigins }: Rules): boolean {
  if (allowedOrigins.includes(origin) || allowedOrigins.includes('*')) return true;
  if (host === undefined || !URL.canParse(origin)) return false;
  const page = new URL(origin);
  return page.host === host && (apiKeys.length > 0 || isLoopback(page.hostname));
}
