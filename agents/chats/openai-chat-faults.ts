import { APIConnectionError, APIError } from 'openai';
import type { SettingNames } from '../../voices/calls/context.ts';
import { bareWordOf, retryAfterMs, statusMeaning } from '../../voices/calls/http-faults.ts';
import { EngineError } from '../../voices/engine.ts';

/** Names of the chat server's settings, unless the engines file names them. */
const environmentNames: SettingNames = {
  baseUrl: 'DRAMATIS_LLM_BASE_URL',
  model: 'DRAMATIS_LLM_MODEL',
  key: 'DRAMATIS_LLM_API_KEY',
};

/** Model and setting names for error messages. */
export interface Blamed {
  readonly model: string;
  readonly settingNames?: SettingNames | undefined;
}

/** Converts an error of a call to the chat server to an `EngineError`, without text of the conversation or the key. */
export function faultOf(cause: unknown, blamed: Blamed): EngineError {
  const { model, settingNames = environmentNames } = blamed;
  if (cause instanceof EngineError) return cause;
  if (cause instanceof SyntaxError) {
    return new EngineError(model, 'ENGINE_BAD_REPLY', 'the server sent invalid JSON in its stream. Check its log.');
  }
  if (cause instanceof APIConnectionError || !(cause instanceof APIError)) {
    const detail = `the server cannot be reached or closed the connection. Check ${settingNames.baseUrl} and that the server runs.`;
    return new EngineError(model, 'ENGINE_UNAVAILABLE', detail, cause);
  }
  return cause.status === undefined
    ? faultInStream(cause, model)
    : faultOfStatus(cause, cause.status, { model, settingNames });
}

/** True if the server understood the request and rejects it as it is. */
export function isRefusal(cause: unknown): cause is APIError {
  return cause instanceof APIError && (cause.status === 400 || cause.status === 422);
}

/** Returns the optional parameter that a 400 complains about. */
export function declinedParameter<Name extends string>(cause: unknown, optional: readonly Name[]): Name | undefined {
  if (!isRefusal(cause)) return undefined;
  // Only OpenAI fills `param`; vLLM and others name the parameter only in the text.
  return (
    optional.find((name) => cause.param?.split('.')[0] === name) ??
    optional.find((name) => cause.message.includes(name))
  );
}

function faultInStream(cause: APIError, model: string): EngineError {
  const status = Number(cause.code);
  const code = status === 429 || status >= 500 ? 'ENGINE_UNAVAILABLE' : 'ENGINE_BAD_REPLY';
  return new EngineError(model, code, `the server reported an error in its stream${kindOf(cause)}. Check its log.`);
}

function faultOfStatus(cause: APIError, status: number, { model, settingNames }: Required<Blamed>): EngineError {
  const { baseUrl, model: modelName, key } = settingNames ?? environmentNames;
  const kind = `${status}${kindOf(cause)}`;
  const { code, detail } = statusMeaning(status, kind, {
    keySetting: key,
    notFound: `the server does not know the model "${model}" (${kind}). Check ${modelName}, and ${baseUrl}, which ends in /v1 on most servers.`,
  });
  const pauseMs = retryAfterMs(cause.headers?.get('retry-after'));
  return new EngineError(model, code, detail, undefined, { status, retryAfterMs: pauseMs });
}

/** Error for a response that is not a stream of tokens. */
export function notAStream({ model, settingNames = environmentNames }: Blamed): EngineError {
  const detail = `the server did not respond with a stream of tokens. Check ${settingNames.baseUrl}, which ends in /v1 on most servers.`;
  return new EngineError(model, 'ENGINE_BAD_REPLY', detail);
}

/** The server's error identifier, if it is a bare word; its message may repeat the prompt or the key. */
function kindOf(cause: APIError): string {
  const kind = bareWordOf([cause.code, cause.type]);
  return kind === undefined ? '' : ` ${kind}`;
}
