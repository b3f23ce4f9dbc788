import type { IncomingHttpHeaders } from 'node:http';
import { accountOf } from '../config/api-keys.ts';
import type { Config } from '../config/config.ts';
import { isLoopback } from '../config/loopback.ts';
import { secretPrefix, type ClientSecret, type ClientSecrets } from './client-secrets.ts';
import type { Refusal } from './problem.ts';

type Rules = Pick<Config, 'apiKeys' | 'allowedOrigins'>;

/** On whose account a request comes, and with what. */
export interface Access {
  /** Stands for the server key, or those of one name, shown or behind the client secret; undefined where none is needed. */
  readonly owner: string | undefined;
  /** Where the client showed one instead of a server key. */
  readonly secret: ClientSecret | undefined;
}

const keyProtocol = 'openai-insecure-api-key.';

/** Who is asking, by server key or client secret; or why they may not. A client secret is checked even where no key is needed. */
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

/** Whether a request may be served: the origin of a web page first, then the server key. */
export function refusalOf(headers: IncomingHttpHeaders, config: Rules): Refusal | undefined {
  const refusal = originRefusal(headers, config);
  if (refusal !== undefined || config.apiKeys.length === 0) return refusal;
  const key = keyOf(headers);
  if (key !== undefined && accountOf(key, config.apiKeys) !== undefined) return undefined;
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

/** Whether the page that asks, if it is one, may: undefined where it may. */
export function originRefusal({ origin, host }: IncomingHttpHeaders, rules: Rules): Refusal | undefined {
  if (origin === undefined || originAllowed(origin, host, rules)) return undefined;
  const message = `The origin ${origin.slice(0, 200)} may not connect. Add it to DRAMATIS_ALLOWED_ORIGINS.`;
  return { status: 403, problem: { code: 'origin_not_allowed', message } };
}

/**
 * Our own page comes from the host it talks to; any other page must be allowed by name. Without keys our own host is this
 * machine: another name means that somebody's page had its name changed to our address (DNS rebinding).
 */
function originAllowed(origin: string, host: string | undefined, { apiKeys, allowedOrigins }: Rules): boolean {
  if (allowedOrigins.includes(origin) || allowedOrigins.includes('*')) return true;
  if (host === undefined || !URL.canParse(origin)) return false;
  const page = new URL(origin);
  return page.host === host && (apiKeys.length > 0 || isLoopback(page.hostname));
}
