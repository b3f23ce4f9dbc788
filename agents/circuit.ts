import type { EngineErrorCode } from '../voices/engine.ts';

/** Keeps from calling an engine that keeps failing, so that nobody waits for it in vain. */
export interface Circuit {
  /** The last failure while the engine rests; undefined when it may be called. */
  restsBecause(): EngineErrorCode | undefined;
  failed(code: EngineErrorCode): void;
  succeeded(): void;
}

/** Rests for `restMs` after every failure that follows `failureCount - 1` others without a success between. */
export function openCircuit(
  settings: { readonly failureCount?: number; readonly restMs?: number; readonly now?: () => number } = {},
): Circuit {
  const { failureCount = 2, restMs = 30_000, now = () => performance.now() } = settings;
  let failures = 0;
  let restsUntilMs = Number.NEGATIVE_INFINITY;
  let lastCode: EngineErrorCode | undefined;
  return {
    restsBecause: () => (now() < restsUntilMs ? lastCode : undefined),
    failed(code) {
      failures += 1;
      lastCode = code;
      if (failures >= failureCount) restsUntilMs = now() + restMs;
    },
    succeeded() {
      failures = 0;
    },
  };
}
