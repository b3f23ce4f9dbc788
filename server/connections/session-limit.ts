import { errorObject } from '../session/contract/errors.ts';
import { newId } from '../realtime/new-id.ts';
import type { Peer } from '../realtime/peer.ts';
import type { Clock } from '../session/contract/clock.ts';
import type { Problem } from '../session/contract/events.ts';

/** Time before the end of a session at which the client is warned. For a short session, half of its length. */
const noticeMs = 60_000;

const expired: Problem = {
  code: 'session_expired',
  message: 'The session reached its time limit. Open a new one.',
};

interface TimeLimit {
  readonly clock: Clock;
  readonly limitMs: number;
  /** The client is warned before the end. */
  readonly notice: boolean;
  readonly end: () => void;
}

/** Ends a session at its time limit and tells the client. Returns a function that cancels it. */
export function startSessionLimit(peer: Pick<Peer, 'send'>, { clock, limitMs, notice, end }: TimeLimit): () => void {
  const leftMs = Math.min(noticeMs, limitMs / 2);
  const announce = (): void => {
    const event = {
      type: 'x_dramatis.session_expiring',
      expires_in_s: Math.round(leftMs / 1000),
      expires_at: Math.floor((Date.now() + leftMs) / 1000),
    };
    peer.send({ event_id: newId('event'), ...event });
  };
  const expire = (): void => {
    peer.send({ type: 'error', event_id: newId('event'), error: errorObject(expired) });
    end();
  };
  const stops = [...(notice ? [clock.after(limitMs - leftMs, announce)] : []), clock.after(limitMs, expire)];
  return () => stops.forEach((stop) => stop());
}
