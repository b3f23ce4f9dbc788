import { EngineError } from '../engine.ts';

/** Ends a talk with a server that has nothing to say when it should. */
export interface Deadline {
  /** Aborts with an `ENGINE_TIMEOUT` when a message is late. */
  readonly signal: AbortSignal;
  /** The next message is due within `ms` from now, instead of any other time. */
  expect(ms: number): void;
  /** Nothing is due. */
  clear(): void;
}

/** For whoever waits for messages whose due time changes while they wait. */
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
      const detail = `nothing within ${ms / 1_000} s. ${advice}`;
      timer = setTimeout(() => late.abort(new EngineError(engine, 'ENGINE_TIMEOUT', detail)), ms);
    },
    clear: () => clearTimeout(timer),
  };
}
