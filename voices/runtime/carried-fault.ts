import { EngineError, type EngineErrorCode } from '../engine.ts';

/** A failure on its way from a thread or process to the one that called it; an `Error` loses its fields there. */
export interface CarriedFault {
  readonly code: EngineErrorCode;
  readonly detail: string;
}

/** An `EngineError` keeps its code; any other error becomes `ENGINE_BAD_REPLY`. */
export function carriedFault(cause: unknown): CarriedFault {
  if (cause instanceof EngineError) return { code: cause.code, detail: cause.detail };
  return { code: 'ENGINE_BAD_REPLY', detail: cause instanceof Error ? cause.message : String(cause) };
}
