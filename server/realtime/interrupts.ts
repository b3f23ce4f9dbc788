import type { WireEvent } from './wire-event.ts';

/**
 * Returns true if speech over a reply stops it, according to the session that a client is sent. Undefined for other
 * events.
 */
export function interruptsIn(event: WireEvent): boolean | undefined {
  if (event.type !== 'session.created' && event.type !== 'session.updated') return undefined;
  const { audio } = event['session'] as {
    readonly audio?: {
      readonly input?: { readonly turn_detection?: { readonly interrupt_response?: boolean } | null };
    };
  };
  return audio?.input?.turn_detection?.interrupt_response !== false;
}
