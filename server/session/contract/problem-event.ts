import type { Problem, SessionEvent } from './events.ts';

/** Tells the client what is wrong; `ref`: its own name for the request that was. */
export function problemEvent(problem: Problem, ref?: string): SessionEvent {
  return { type: 'problem', problem, ...(ref === undefined ? {} : { ref }) };
}
