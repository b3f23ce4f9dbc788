import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
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
    const detail = `the server does not speak HTTP (${code}). Check ${settingNames.baseUrl}.`;
    return new EngineError(name, 'ENGINE_BAD_REPLY', detail);
  }
  if (answered) return brokenOff(upstream);
  if (/CERT|UNABLE_TO|HOSTNAME/.test(code)) {
    const detail = `the server's certificate is not trusted (${code}). Set NODE_EXTRA_CA_CERTS to its file, or check the name in ${settingNames.baseUrl}.`;
    return new EngineError(name, 'ENGINE_UNAVAILABLE', detail);
  }
  if (/SSL|TLS|EPROTO/.test(code)) {
    const detail = `the TLS connection failed (${code}). Check whether ${settingNames.baseUrl} must begin with http or https.`;
    return new EngineError(name, 'ENGINE_UNAVAILABLE', detail);
  }
  const why = code === '' ? '' : ` (${code})`;
  const detail = `the server cannot be reached${why}. Check ${settingNames.baseUrl} and that the server runs.`;
  return new EngineError(name, 'ENGINE_UNAVAILABLE', detail);
}

/** The connection was lost in the middle of a response. */
export function brokenOff({ name }: Pick<Upstream, 'name'>): EngineError {
  const detail = 'the server closed the connection in the middle of its response. Check its log.';
  return new EngineError(name, 'ENGINE_UNAVAILABLE', detail);
}

/** The response is not what this kind of server sends; `what` completes "the server sent …". */
export function badReply({ name, settingNames }: Upstream, what: string): EngineError {
  const detail = `the server sent ${what}. Check ${settingNames.baseUrl} and what runs there.`;
  return new EngineError(name, 'ENGINE_BAD_REPLY', detail);
}

/** Parses JSON that the server sent; throws `badReply` with `what` if it does not fit the schema. */
export function readJson<Value>(text: string, schema: z.ZodType<Value>, upstream: Upstream, what: string): Value {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    throw badReply(upstream, what);
  }
}

/** Any JSON object, or an array. */
export const anyObject = z.custom<Record<string, unknown>>((value) => typeof value === 'object' && value !== null);

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
          detail: `the server redirects (${kind}). Set ${settingNames.baseUrl} to the final address.`,
        }
      : statusMeaning(status, kind, {
          keySetting: settingNames.key,
          notFound: `the server does not know the model or the path (${kind}). Check ${settingNames.model} and ${settingNames.baseUrl}.`,
        });
  return new EngineError(name, code, detail, undefined, {
    status,
    retryAfterMs: retryAfterMs(headers['retry-after']),
  });
}

/**
 * Maps a status that the server reports in a message, after its answer had begun. `word`: its own error code, which is
 * shown if it is a bare identifier.
 */
export function reportedFault({ name, settingNames }: Upstream, status: number, word?: unknown): EngineError {
  const shown = bareWordOf([word]);
  const { code, detail } = statusMeaning(status, shown === undefined ? `${status}` : `${status} ${shown}`, {
    keySetting: settingNames.key,
    notFound: `the server does not know the model or the voice (${shown ?? status}). Check ${settingNames.model} and its voices.`,
  });
  return new EngineError(name, code, detail, undefined, { status });
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
      return { code: 'ENGINE_REFUSED', detail: `the server rejected the key (${kind}). Check ${keySetting}.` };
    case 402:
      return { code: 'ENGINE_REFUSED', detail: `the account has no credit left (${kind}). Check your plan.` };
    case 404:
      return { code: 'ENGINE_REFUSED', detail: notFound };
    case 408:
      return { code: 'ENGINE_TIMEOUT', detail: `the server timed out (${kind}). Is it overloaded?` };
    case 429:
      return {
        code: 'ENGINE_UNAVAILABLE',
        detail: `too many requests, or the quota is used up (${kind}). Wait a minute, or check your plan.`,
      };
    default:
      return status >= 500
        ? { code: 'ENGINE_UNAVAILABLE', detail: `the server failed (${kind}). Check its log.` }
        : { code: 'ENGINE_REFUSED', detail: `the server rejected the request (${kind}). Check its log.` };
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
  return bareWordOf(words);
}

/** The first of `words` that is a bare identifier. */
export function bareWordOf(words: readonly unknown[]): string | undefined {
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
