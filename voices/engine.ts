/** Options of every engine call. Aborting is not an error: the call ends by throwing `signal.reason`. */
export interface CallOptions {
  readonly signal: AbortSignal;
}

/** Optional lifecycle methods of an engine. The engine must work without any of them being called. */
export interface EngineLifecycle {
  /** Cheap check if the engine could serve now: returns what it found, or throws an `EngineError` with the remedy. */
  check?(options: CallOptions): Promise<string>;
  /** Warms up, so that the first call is as fast as later ones. */
  warm?(options: CallOptions): Promise<void>;
  close?(): Promise<void>;
}

/**
 * `ENGINE_REFUSED`: the engine rejected this input. `ENGINE_MISSING`: the engine or its weights are not installed.
 * `ENGINE_NOT_RECORDED`: a cassette is played that has no answer to this input; no other answer may be used.
 */
export type EngineErrorCode =
  | 'ENGINE_UNAVAILABLE'
  | 'ENGINE_TIMEOUT'
  | 'ENGINE_BAD_REPLY'
  | 'ENGINE_REFUSED'
  | 'ENGINE_MISSING'
  | 'ENGINE_NOT_RECORDED';

/** The only error an engine may throw, other than the reason of an aborted signal. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
  readonly code: EngineErrorCode;
  /** Description of the failure and what to do about it, without the engine's name. */
  readonly detail: string;
  /** True if the same call may succeed a moment later. */
  readonly retryable: boolean;
  /** Delay the engine asks for before the next call; absent if it does not say. */
  readonly retryAfterMs?: number;
  /** HTTP status of the response, if that was the failure. */
  readonly status?: number;

  /** `detail` says what went wrong and what to do, without any content of the conversation. */
  constructor(
    engine: string,
    code: EngineErrorCode,
    detail: string,
    cause?: unknown,
    answer: { readonly status?: number; readonly retryAfterMs?: number | undefined } = {},
  ) {
    super(`${engine}: ${detail}`, { cause });
    this.code = code;
    this.detail = detail;
    this.retryable = code === 'ENGINE_UNAVAILABLE' || code === 'ENGINE_TIMEOUT';
    if (answer.status !== undefined) this.status = answer.status;
    if (answer.retryAfterMs !== undefined) this.retryAfterMs = answer.retryAfterMs;
  }
}
