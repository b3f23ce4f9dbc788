/** What every engine call must be given. Aborting is not an error: the call stops quietly by throwing `signal.reason`. */
export interface CallOptions {
  readonly signal: AbortSignal;
}

/** What an engine may offer beside its work. None of it must be called for the engine to work. */
export interface EngineUpkeep {
  /** Looks whether the engine could serve now, at little cost. Resolves to what was found; throws an `EngineError` whose detail has the remedy. */
  check?(options: CallOptions): Promise<string>;
  /** Gets ready, so that the first call is as fast as the next. */
  warm?(options: CallOptions): Promise<void>;
  close?(): Promise<void>;
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
  /** How long the engine asks to be left alone; absent where it does not say. */
  readonly retryAfterMs?: number;
  /** The HTTP status it answered with, where that was the fault. */
  readonly status?: number;

  /** `detail` says what went wrong and what to do, without content of the conversation. */
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
