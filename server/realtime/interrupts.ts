import type { WireEvent } from './wire-event.ts';

/**
 * Whether speech over a reply stops it, by what a client is told of its session. Undefined for events that say nothing
 * about it.
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
