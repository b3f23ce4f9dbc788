import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../server/config/config.ts';
import { LiveSessions, type Caller } from '../../../server/http/live-sessions.ts';

function sessionsOf(DRAMATIS_API_KEYS: string, flags: Record<string, string> = {}): LiveSessions {
  return new LiveSessions(
    readConfig({ flags: { maxSessions: '5', maxRequests: '4', ...flags }, environment: { DRAMATIS_API_KEYS } }),
  );
}

const callerOf = (owner: string | undefined): Caller => ({ owner, address: '192.0.2.1' });

/** How many sessions and requests one account gets, while nobody else has any. */
function shareOf(
  sessions: LiveSessions,
  owner: string | undefined,
): { sessions: number; requests: number; codes: unknown[] } {
  const share = { sessions: 0, requests: 0 };
  for (; sessions.refusalFor(callerOf(owner)) === undefined; share.sessions += 1)
    sessions.enter(callerOf(owner), () => undefined);
  let place = sessions.begin(callerOf(owner));
  for (; typeof place === 'function'; place = sessions.begin(callerOf(owner))) share.requests += 1;
  return { ...share, codes: [sessions.refusalFor(callerOf(owner))?.problem.code, place.problem.code] };
}

describe('the share of a key', () => {
  it('is at most half of the places for sessions and requests, so that other keys are served', () => {
    const sessions = sessionsOf('a:one,b:two');
    const codes = ['too_many_sessions', 'too_many_requests'];
    expect(shareOf(sessions, 'a')).toEqual({ sessions: 3, requests: 2, codes });
    expect(shareOf(sessions, 'b')).toMatchObject({ sessions: 2, requests: 2 });
  });

  it('is all places if it is the only key, or if the server needs none', () => {
    const codes = ['server_busy', 'server_busy'];
    expect(shareOf(sessionsOf('a:one,a:two'), 'a')).toEqual({ sessions: 5, requests: 4, codes });
    expect(shareOf(sessionsOf(''), undefined)).toEqual({ sessions: 5, requests: 4, codes });
  });

  it('is what the operator says', () => {
    const sessions = sessionsOf('a:one,b:two', { maxSessionsPerKey: '4', maxRequestsPerKey: '1' });
    expect(shareOf(sessions, 'a')).toMatchObject({ sessions: 4, requests: 1 });
  });
});
