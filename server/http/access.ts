import type { IncomingHttpHeaders } from 'node:http';
import { accountOf } from '../config/api-keys.ts';
import type { Config } from '../config/config.ts';
import { isLoopback } from '../config/loopback.ts';
import { secretPrefix, type ClientSecret, type ClientSecrets } from './client-secrets.ts';
import { isOurHost } from './host-guard.ts';
import type { Refusal } from './problem.ts';

type Rules = Pick<Config, 'apiKeys' | 'allowedOrigins' | 'allowedHosts'>;

/** The account that a request is made on, and the credential it was made with. */
export interface Access {
  /**
   * Key of the account: one server key, or all server keys that share a name. A client secret counts as the key that
   * made it. Undefined if the server needs no keys.
   */
  readonly owner: string | undefined;
  /** Set if the client sent a client secret instead of a server key. */
  readonly secret: ClientSecret | undefined;
  /** Set if the client sent no valid key, only the resume token of a session. It may do nothing but resume that. */
  readonly byToken?: true;
}

const keyProtocol = 'openai-insecure-api-key.';
const resumeProtocol = 'dramatis-resume.';

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
export function keyOf(headers: IncomingHttpHeaders): string | undefined {
  const bearer = /^Bearer\s+(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  const azure = headers['api-key'];
  return bearer ?? (typeof azure === 'string' ? azure : undefined) ?? subprotocolOf(headers, keyProtocol);
}

/**
 * The resume token that a client sent: as a header, as a WebSocket subprotocol, or, last, in the query, which proxies
 * may log.
 */
export function resumeTokenOf(headers: IncomingHttpHeaders, query: unknown): string | undefined {
  const header = headers['x-dramatis-resume'];
  const [inQuery] = [(query as Record<string, unknown> | undefined)?.['resume']].flat();
  const token = [header].flat()[0] ?? subprotocolOf(headers, resumeProtocol) ?? inQuery;
  return typeof token === 'string' ? token : undefined;
}

/** The rest of the first subprotocol that begins with `prefix`. */
function subprotocolOf(headers: IncomingHttpHeaders, prefix: string): string | undefined {
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((protocol) => protocol.trim());
  return offered.find((protocol) => protocol.startsWith(prefix))?.slice(prefix.length);
}

/**
 * Returns a `Refusal` unless a request to a server without keys comes from its own machine: over loopback, under a loopback name,
 * without a proxy, and from no other page, even if its origin is among those allowed.
 */
export function remoteRefusal(
  headers: IncomingHttpHeaders,
  remoteAddress: string | undefined,
  { apiKeys }: Pick<Rules, 'apiKeys'>,
): Refusal | undefined {
  if (apiKeys.length > 0) return undefined;
  const address = remoteAddress?.replace(/^::ffff:(?=[\d.]+$)/i, '') ?? '';
  const name = URL.parse(`http://${headers.host ?? ''}`)?.hostname ?? '';
  const isOwnPage = headers.origin === undefined || URL.parse(headers.origin)?.host === headers.host;
  const isProxied = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'].some((each) => headers[each] !== undefined);
  if (isLoopback(address) && isLoopback(name) && isOwnPage && !isProxied) return undefined;
  const message =
    'A server without keys can be configured only from its own machine. Set DRAMATIS_API_KEYS, and send a key.';
  return { status: 403, problem: { code: 'server_key_needed', message } };
}

/** Returns a `Refusal` if the request comes from a web page of an origin that is not allowed. */
export function originRefusal({ origin, host }: IncomingHttpHeaders, rules: Rules): Refusal | undefined {
  if (origin === undefined || originAllowed(origin, host, rules)) return undefined;
  const message = `The origin ${origin.slice(0, 200)} is not allowed. Add it to DRAMATIS_ALLOWED_ORIGINS.`;
  return { status: 403, problem: { code: 'origin_not_allowed', message } };
}

/**
 * Our own page has the same host as the server, under a name that is ours (`isOurHost`); any other origin must be in the
 * list of allowed origins.
 */
function originAllowed(origin: string, host: string | undefined, rules: Rules): boolean {
  const { allowedOrigins } = rules;
  if (allowedOrigins.includes(origin) || allowedOrigins.includes('*')) return true;
  if (host === undefined || !URL.canParse(origin)) return false;
  return new URL(origin).host === host && isOurHost(host, rules);
}
