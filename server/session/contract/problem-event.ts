import type { Problem, SessionEvent } from './events.ts';

/** Builds the event that reports an error to the client; `ref`: the client's own name for the request. */
export function problemEvent(problem: Problem, ref?: string): SessionEvent {
  return { type: 'problem', problem, ...(ref === undefined ? {} : { ref }) };
}
