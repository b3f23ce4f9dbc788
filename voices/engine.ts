/** What every engine call must be given. Aborting is not an error: the call stops quietly by throwing `signal.reason`. */
export interface CallOptions {
  readonly signal: AbortSignal;
}

/** `ENGINE_REFUSED`: the engine said no to this input. `ENGINE_MISSING`: it, or its weights, is not installed. */
export type EngineErrorCode =
  | 'ENGINE_UNAVAILABLE'
  | 'ENGINE_TIMEOUT'
  | 'ENGINE_BAD_REPLY'
  | 'ENGINE_REFUSED'
  | 'ENGINE_MISSING';

/** The only error an engine may throw, apart from the reason of an aborted signal. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
  readonly code: EngineErrorCode;
  /** What went wrong and what to do, without the engine's name. */
  readonly detail: string;
  /** True where the same call may succeed a moment later. */
  readonly retryable: boolean;

  /** `detail` says what went wrong and what to do, without content of the conversation. */
  constructor(engine: string, code: EngineErrorCode, detail: string, cause?: unknown) {
    super(`${engine}: ${detail}`, { cause });
    this.code = code;
    this.detail = detail;
    this.retryable = code === 'ENGINE_UNAVAILABLE' || code === 'ENGINE_TIMEOUT';
  }
}
