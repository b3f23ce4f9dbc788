import { errorObject } from '../errors.ts';
import type { Link } from '../link/link.ts';
import { newId } from '../realtime/connection.ts';
import type { Problem } from '../session/events.ts';

/** How long before its end a session is announced to end: time to say goodbye. A short session's last half. */
const noticeMs = 60_000;

const expired: Problem = {
  code: 'session_expired',
  message: 'The session reached its time limit. Open a new one.',
};

/** Ends a session at its time limit, and tells the client: then, and with `notice` some time before. Until `stop`. */
export function limitTime(
  link: Pick<Link, 'send'>,
  { limitMs, notice, end }: { readonly limitMs: number; readonly notice: boolean; readonly end: () => void },
): { stop(): void } {
  const leftMs = Math.min(noticeMs, limitMs / 2);
  const announce = (): void => {
    const event = {
      type: 'x_dramatis.session_expiring',
      expires_in_s: Math.round(leftMs / 1000),
      expires_at: Math.floor((Date.now() + leftMs) / 1000),
    };
    link.send({ event_id: newId('event'), ...event });
  };
  const expire = (): void => {
    link.send({ type: 'error', event_id: newId('event'), error: errorObject(expired) });
    end();
  };
  const timers = [...(notice ? [setTimeout(announce, limitMs - leftMs)] : []), setTimeout(expire, limitMs)];
  return { stop: () => timers.forEach((timer) => clearTimeout(timer)) };
}
