import { EngineError } from '../engine.ts';

/** Ends an exchange with a server that is silent when a message is due. */
export interface Deadline {
  /** Aborts with an `ENGINE_TIMEOUT` when a message is late. */
  readonly signal: AbortSignal;
  /** Expects the next message within `ms` from now; replaces any earlier deadline. */
  expect(ms: number): void;
  /** Removes the deadline. */
  clear(): void;
}

/** Opens a deadline that can be moved while a message is being waited for. */
export function openDeadline(
  engine: string,
  advice = 'Is the server overloaded, or still loading its model?',
): Deadline {
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  return {
    signal: late.signal,
    expect(ms) {
      clearTimeout(timer);
      const detail = `no message within ${ms / 1_000} s. ${advice}`;
      timer = setTimeout(() => late.abort(new EngineError(engine, 'ENGINE_TIMEOUT', detail)), ms);
    },
    clear: () => clearTimeout(timer),
  };
}
