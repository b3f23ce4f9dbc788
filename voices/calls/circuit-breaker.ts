import { EngineError, type CallOptions, type EngineErrorCode } from '../engine.ts';

/** Circuit breaker: blocks calls to an engine that keeps failing, so that no caller waits for it in vain. */
export interface CircuitBreaker {
  /** Code of the last failure while the breaker is open; undefined if the engine may be called. Has no side effects. */
  openBecause(): EngineErrorCode | undefined;
  /** Asks to make a call: undefined, or why not. After a rest one trial call goes through, until reported. */
  enter(): EngineErrorCode | undefined;
  failed(code: EngineErrorCode): void;
  succeeded(): void;
  /** Milliseconds until the next trial call; 0 if the breaker is closed, or a trial call is in progress. */
  remainingMs(): number;
  /** The call ended without saying anything about the engine, e.g. because it was aborted. */
  left(): void;
  /** Passes on `parts` and notes how they end; throws an `EngineError`, asking for none, while the breaker is open. */
  attempt<Part>(engine: string, parts: () => AsyncIterable<Part>, options: CallOptions): AsyncGenerator<Part>;
}

/** Opens a breaker: blocks calls for `restMs` after `failureCount` failures in a row, and after every further one. */
export function createCircuitBreaker(
  settings: { readonly failureCount?: number; readonly restMs?: number; readonly now?: () => number } = {},
): CircuitBreaker {
  const { failureCount = 2, restMs = 30_000, now = () => performance.now() } = settings;
  let failures = 0;
  let restsUntilMs = Number.NEGATIVE_INFINITY;
  let lastCode: EngineErrorCode | undefined;
  let isBeingTried = false;
  const rests = (): boolean => now() < restsUntilMs || isBeingTried;
  const circuit: CircuitBreaker = {
    openBecause: () => (rests() ? lastCode : undefined),
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
    remainingMs: () => Math.max(0, restsUntilMs - now()),
    left() {
      isBeingTried = false;
    },
    async *attempt(engine, parts, { signal }) {
      const code = circuit.enter();
      if (code !== undefined) throw blockedCall(engine, code, circuit);
      let conclude = (): void => circuit.left();
      try {
        yield* parts();
        conclude = () => circuit.succeeded();
      } catch (cause) {
        if (!signal.aborted && cause instanceof EngineError) conclude = () => circuit.failed(cause.code);
        throw cause;
      } finally {
        conclude();
      }
    },
  };
  return circuit;
}

/** Error of a call that an open circuit breaker blocked; `code` is that of the last failure. */
function blockedCall(engine: string, code: EngineErrorCode, circuit: CircuitBreaker): EngineError {
  const seconds = Math.ceil(circuit.remainingMs() / 1000);
  const next = seconds === 0 ? 'a trial call is in progress' : `retrying in ${seconds} s`;
  return new EngineError(engine, code, `failed repeatedly; the circuit breaker is open, ${next}`);
}
