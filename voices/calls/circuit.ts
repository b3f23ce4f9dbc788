import type { EngineErrorCode } from '../engine.ts';

/** Keeps from calling an engine that keeps failing, so that nobody waits for it in vain. */
export interface Circuit {
  /** The last failure while the engine rests; undefined when it may be called. Changes nothing. */
  restsBecause(): EngineErrorCode | undefined;
  /**
   * Asks to call: undefined, or why not. After a rest one call goes through to try the engine, and until that has
   * `succeeded`, `failed` or `left` no other does.
   */
  enter(): EngineErrorCode | undefined;
  failed(code: EngineErrorCode): void;
  succeeded(): void;
  /** The call ended without telling anything about the engine, such as one that was aborted. */
  left(): void;
}

/** Rests for `restMs` after every failure that follows `failureCount - 1` others without a success between. */
export function openCircuit(
  settings: { readonly failureCount?: number; readonly restMs?: number; readonly now?: () => number } = {},
): Circuit {
  const { failureCount = 2, restMs = 30_000, now = () => performance.now() } = settings;
  let failures = 0;
  let restsUntilMs = Number.NEGATIVE_INFINITY;
  let lastCode: EngineErrorCode | undefined;
  let isBeingTried = false;
  const rests = (): boolean => now() < restsUntilMs || isBeingTried;
  return {
    restsBecause: () => (rests() ? lastCode : undefined),
    enter() {
      if (rests()) return lastCode;
      isBeingTried = failures >= failureCount;
      return undefined;
    },
    failed(code) {
      failures += 1;
      lastCode = code;
      isBeingTried = false;
      if (failures >= failureCount) restsUntilMs = now() + restMs;
    },
    succeeded() {
      failures = 0;
      isBeingTried = false;
      restsUntilMs = Number.NEGATIVE_INFINITY;
    },
    left() {
      isBeingTried = false;
    },
  };
}
