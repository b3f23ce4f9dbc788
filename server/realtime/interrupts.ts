import type { ServerEvent } from '../protocol/server-events.ts';
import type { WireSession } from './wire-session.ts';

/** Returns true if speech over a reply stops it, by the session in a server event; undefined for other events. */
export function interruptsIn(event: ServerEvent): boolean | undefined {
  if (event.type !== 'session.created' && event.type !== 'session.updated') return undefined;
  const { audio } = event.session as Partial<Pick<WireSession, 'audio'>>;
  return audio?.input.turn_detection?.['interrupt_response'] !== false;
}
