import { APIConnectionError, APIError } from 'openai';
import { EngineError } from '../../voices/engine.ts';

/** The longest pause before a retry; a server that asks for more is given up, since somebody waits for an answer. */
const longestPauseMs = 2_000;
const usualPauseMs = 200;

/** What went wrong in a call to the chat server named `model`, without words of the conversation or of the key. */
export function faultOf(cause: unknown, model: string): EngineError {
  if (cause instanceof EngineError) return cause;
  if (cause instanceof SyntaxError) {
    return new EngineError(model, 'ENGINE_BAD_REPLY', 'the server sent something that is not JSON in its stream');
  }
  if (cause instanceof APIConnectionError || !(cause instanceof APIError)) {
    return new EngineError(
      model,
      'ENGINE_UNAVAILABLE',
      'the server cannot be reached or closed the connection. Check DRAMATIS_LLM_BASE_URL and that the server runs.',
      cause,
    );
  }
  return cause.status === undefined ? faultInStream(cause, model) : faultOfStatus(cause, cause.status, model);
}

/** How long to wait before a second try, in milliseconds; undefined where a second try would not help. */
export function retryPauseMs(cause: unknown): number | undefined {
  if (cause instanceof EngineError || cause instanceof SyntaxError) return undefined;
  if (cause instanceof APIConnectionError || !(cause instanceof APIError)) return usualPauseMs;
  const { status } = cause;
  if (status === undefined || !(status === 408 || status === 429 || status >= 500)) return undefined;
  const askedMs = retryAfterMs(cause.headers);
  return askedMs > longestPauseMs ? undefined : askedMs;
}

/** Whether the server understood the request and does not want it as it is. */
export function isRefusal(cause: unknown): cause is APIError {
  return cause instanceof APIError && (cause.status === 400 || cause.status === 422);
}

/** Which of the optional parameters a 400 complains about. */
export function declinedParameter<Name extends string>(cause: unknown, optional: readonly Name[]): Name | undefined {
  if (!isRefusal(cause)) return undefined;
  // Only OpenAI fills `param`; vLLM and others name the parameter in the text alone.
  return (
    optional.find((name) => cause.param?.split('.')[0] === name) ??
    optional.find((name) => cause.message.includes(name))
  );
}

function faultInStream(cause: APIError, model: string): EngineError {
  const status = Number(cause.code);
  const code = status === 429 || status >= 500 ? 'ENGINE_UNAVAILABLE' : 'ENGINE_BAD_REPLY';
  return new EngineError(model, code, `the server reported an error in its stream${kindOf(cause)}`);
}

function faultOfStatus(cause: APIError, status: number, model: string): EngineError {
  const kind = `${status}${kindOf(cause)}`;
  switch (status) {
    case 401:
    case 403:
      return new EngineError(
        model,
        'ENGINE_REFUSED',
        `the key was not accepted (${kind}). Check DRAMATIS_LLM_API_KEY.`,
      );
    case 404:
      return new EngineError(
        model,
        'ENGINE_REFUSED',
        `the server knows no model "${model}" (${kind}). Check DRAMATIS_LLM_MODEL, and DRAMATIS_LLM_BASE_URL, which ends in /v1 on most servers.`,
      );
    case 408:
      return new EngineError(model, 'ENGINE_TIMEOUT', `the server gave up waiting (${kind})`);
    case 429:
      return new EngineError(model, 'ENGINE_UNAVAILABLE', `too many requests, or the quota is used up (${kind})`);
    default:
      return status >= 500
        ? new EngineError(model, 'ENGINE_UNAVAILABLE', `the server failed (${kind}). Look into its log.`)
        : new EngineError(model, 'ENGINE_REFUSED', `the server did not accept the request (${kind})`);
  }
}

/** The server's own word for the error, where it is a bare identifier; its prose may repeat the prompt or the key. */
function kindOf(cause: APIError): string {
  const kind = [cause.code, cause.type].find((word) => typeof word === 'string' && /^[a-z][a-z_]{2,40}$/i.test(word));
  return kind === undefined ? '' : ` ${String(kind)}`;
}

function retryAfterMs(headers: Headers | undefined): number {
  const text = headers?.get('retry-after');
  if (text === null || text === undefined || text === '') return usualPauseMs;
  const seconds = Number(text);
  const askedMs = Number.isNaN(seconds) ? Date.parse(text) - Date.now() : seconds * 1_000;
  return Number.isNaN(askedMs) ? usualPauseMs : Math.max(0, askedMs);
}
