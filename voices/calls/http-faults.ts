import type { IncomingHttpHeaders } from 'node:http';
import { EngineError } from '../engine.ts';
import type { EngineContext } from './context.ts';

/** The part of a context needed to describe a failure. */
export type Upstream = Pick<EngineContext, 'name' | 'settingNames' | 'timeouts'>;

/** Maps a connection failure to an `EngineError`. `answered` is true if the response had begun. */
export function connectionFault(upstream: Upstream, cause: unknown, answered: boolean): EngineError {
  if (cause instanceof EngineError) return cause;
  const { name, settingNames } = upstream;
  const code = cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : '';
  if (code.startsWith('HPE_')) {
    const detail = `what answers there does not speak HTTP (${code}). Check ${settingNames.baseUrl}.`;
    return new EngineError(name, 'ENGINE_BAD_REPLY', detail);
  }
  if (answered) return brokenOff(upstream);
  if (/CERT|UNABLE_TO|HOSTNAME/.test(code)) {
    const detail = `the server's certificate is not trusted (${code}). Set NODE_EXTRA_CA_CERTS to its file, or check the name in ${settingNames.baseUrl}.`;
    return new EngineError(name, 'ENGINE_UNAVAILABLE', detail);
  }
  if (/SSL|TLS|EPROTO/.test(code)) {
    const detail = `no secure connection (${code}). Check whether ${settingNames.baseUrl} begins with the right one of http and https.`;
    return new EngineError(name, 'ENGINE_UNAVAILABLE', detail);
  }
  const why = code === '' ? '' : ` (${code})`;
  const detail = `the server cannot be reached${why}. Check ${settingNames.baseUrl} and that the server runs.`;
  return new EngineError(name, 'ENGINE_UNAVAILABLE', detail);
}

/** The connection was lost in the middle of a response. */
export function brokenOff({ name }: Upstream): EngineError {
  return new EngineError(
    name,
    'ENGINE_UNAVAILABLE',
    'the server broke off in the middle of its answer. Look into its log.',
  );
}

/** The response is not what this kind of server sends; `what` completes "the server sent …". */
export function badReply({ name, settingNames }: Upstream, what: string): EngineError {
  return new EngineError(
    name,
    'ENGINE_BAD_REPLY',
    `the server sent ${what}. Check ${settingNames.baseUrl} and what runs there.`,
  );
}

/** Maps a status other than 2xx to an `EngineError`. Repeats nothing of the body except the server's error code. */
export function statusFault(
  { name, settingNames }: Upstream,
  status: number,
  headers: IncomingHttpHeaders,
  body: string,
): EngineError {
  const word = errorWord(body);
  const kind = word === undefined ? `${status}` : `${status} ${word}`;
  const { code, detail } =
    status >= 300 && status < 400
      ? {
          code: 'ENGINE_REFUSED' as const,
          detail: `the server sends us elsewhere (${kind}). Write the final address into ${settingNames.baseUrl}.`,
        }
      : statusMeaning(status, kind, {
          keySetting: settingNames.key,
          notFound: `the server knows no such model or address (${kind}). Check ${settingNames.model} and ${settingNames.baseUrl}.`,
        });
  return new EngineError(name, code, detail, undefined, {
    status,
    retryAfterMs: retryAfterMs(headers['retry-after']),
  });
}

/** Error code and advice for a status of 400 or more. `kind` is shown: the status with the server's error code. */
export function statusMeaning(
  status: number,
  kind: string,
  { keySetting, notFound }: { readonly keySetting: string; readonly notFound: string },
): { readonly code: EngineError['code']; readonly detail: string } {
  switch (status) {
    case 401:
    case 403:
      return { code: 'ENGINE_REFUSED', detail: `the key was not accepted (${kind}). Check ${keySetting}.` };
    case 404:
      return { code: 'ENGINE_REFUSED', detail: notFound };
    case 408:
      return { code: 'ENGINE_TIMEOUT', detail: `the server gave up waiting (${kind}). Is it overloaded?` };
    case 429:
      return {
        code: 'ENGINE_UNAVAILABLE',
        detail: `too many requests, or the quota is used up (${kind}). Wait a minute, or look at your plan there.`,
      };
    default:
      return status >= 500
        ? { code: 'ENGINE_UNAVAILABLE', detail: `the server failed (${kind}). Look into its log.` }
        : { code: 'ENGINE_REFUSED', detail: `the server did not accept the request (${kind}). Look into its log.` };
  }
}

/** The server's error code, if it is a bare identifier; its error text may repeat the prompt or the key. */
export function errorWord(body: string): string | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return undefined;
  }
  const fields = [parsed, field(parsed, 'error'), field(parsed, 'detail')];
  const words = fields.flatMap((each) => [field(each, 'code'), field(each, 'type'), field(each, 'error')]);
  return words.find((word): word is string => typeof word === 'string' && /^[a-z][a-z_]{2,40}$/i.test(word));
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

/** `Retry-After`, given in seconds or as a date, in milliseconds. */
export function retryAfterMs(header: string | null | undefined): number | undefined {
  if (header === undefined || header === null || header === '') return undefined;
  const seconds = Number(header);
  const askedMs = Number.isNaN(seconds) ? Date.parse(header) - Date.now() : seconds * 1_000;
  return Number.isNaN(askedMs) ? undefined : Math.max(0, askedMs);
}
