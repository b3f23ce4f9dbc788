import type { FastifyBaseLogger } from 'fastify';
import { resolveCharacter } from '../../connections/caller-choice.ts';
import type { Refusal } from '../../http/problem.ts';
import { newId } from '../../realtime/encode.ts';
import { systemClock } from '../../session/contract/clock.ts';
import type { Problem } from '../../session/contract/events.ts';
import { openStream, type Line, type SocketDeps } from '../../connections/open-stream.ts';
import { hashOf, newToken, type ResumableSession } from '../../connections/resumable-sessions.ts';
import { greetAgain, restoreSession } from '../../connections/restored-session.ts';
import { resumeProblem } from '../../connections/session-binding.ts';
import { extensionsOf } from '../../connections/socket-request.ts';
import type { Call } from './call.ts';
import { startOf, type CallRequest } from './call-request.ts';
import { CallTalk } from './call-talk.ts';

/** Request of a client for the session of its call. */
export interface TalkRequest extends Pick<CallRequest, 'session'> {
  readonly model?: string | undefined;
  /** Extensions to enable: `resume`. */
  readonly x?: string | undefined;
  /** Resume token of the session to continue, and the number of the last event that the client got of it. */
  readonly resume?: string | undefined;
  readonly after?: string | undefined;
}

/** Opens the session of a call, or continues one whose call broke. Returns a `Refusal` if that fails. */
export function openTalk(
  call: Call,
  request: TalkRequest,
  deps: SocketDeps,
  log: FastifyBaseLogger,
): ResumableSession | Refusal {
  const { resume: token } = request;
  const arrival: Arrival = { call, request, deps, log };
  if (token === undefined) return begin(arrival);
  // It may have ended while the offer was answered.
  const refusal = resumeRefusal(token, deps);
  if (refusal !== undefined) return refusal;
  const session = deps.resumableSessions.claim(token);
  return session === undefined ? restore(arrival, token) : goOn(arrival, token, session);
}

/** Returns a refusal if a caller may not have the session of a token, or if this server does not have it. */
export function resumeRefusal(
  token: string | undefined,
  { resumableSessions, store, caller }: SocketDeps,
): Refusal | undefined {
  if (token === undefined) return undefined;
  const found = resumableSessions.find(token);
  if (found === undefined) return store?.has(hashOf(token)) === true ? undefined : refusalOf(gone);
  const problem = resumeProblem(found.binding, caller, { medium: 'call' });
  return problem && refusalOf(problem);
}

interface Arrival {
  readonly call: Call;
  readonly request: TalkRequest;
  readonly deps: SocketDeps;
  readonly log: FastifyBaseLogger;
}

function begin(arrival: Arrival): ResumableSession | Refusal {
  const { call, request, deps, log } = arrival;
  const { caller } = deps;
  const model = request.model ?? request.session?.model;
  const character = resolveCharacter(model, caller.secret, deps);
  if ('code' in character) return { status: character.code === 'unknown_character' ? 404 : 403, problem: character };
  // The last slot may have been taken in the meantime.
  const refusal = deps.sessions.refusalFor(caller);
  if (refusal !== undefined) return refusal;
  const isResumable = request.x !== undefined && extensionsOf({ x: request.x }).has('resume');
  const token = isResumable ? newToken() : undefined;
  return connected(
    openStream(
      { extensions: new Set(), opus: undefined, token, carrier: call, peerOf: peerOf(arrival, token) },
      {
        character,
        model: model ?? character.id,
        client: { holds: true },
        startWith: startOf(caller.secret?.startWith, request.session),
        medium: 'call',
      },
      deps,
      log,
    ),
  );
}

function goOn({ call, request, deps }: Arrival, token: string, session: ResumableSession): ResumableSession | Refusal {
  const { link, connection, peer } = session;
  const after = request.after === undefined ? link.sequence : Number(request.after);
  // It comes from another process and does not know it yet.
  const restarted = link.precedes(after) ? { restarted: true } : {};
  const greeting = (received: number): string =>
    JSON.stringify({ type: 'x_dramatis.resumed', event_id: newId('event'), received, ...restarted });
  if (!link.attach(call, after, greeting)) {
    if (!link.attached) deps.resumableSessions.leave(token);
    return refusalOf(tooLate);
  }
  if (peer instanceof CallTalk) peer.attach(call);
  connection.away(false);
  return session;
}

/** Restores a session that another server process has left. */
function restore(arrival: Arrival, token: string): ResumableSession | Refusal {
  const { call, request, deps, log } = arrival;
  const restored = restoreSession(token, {
    request: { x: 'hold', ...(request.after === undefined ? {} : { after: request.after }) },
    call: { medium: 'call', peerOf: peerOf(arrival, token) },
    deps,
    log,
  });
  if ('problem' in restored) return refusalOf(restored.problem, restored.mayRetry);
  greetAgain(restored, call);
  return connected(restored.session);
}

/** Returns the function that makes the peer of a session: what it says goes over the call. */
function peerOf({ call, deps, log }: Arrival, token: string | undefined): NonNullable<Line['peerOf']> {
  const { resumableSessions, clock = systemClock } = deps;
  const leave = token === undefined ? undefined : (): boolean => resumableSessions.leave(token);
  const onFault = (fault: unknown): void =>
    log.error({ fault: fault instanceof Error ? fault.stack : String(fault) }, 'call failed');
  return (link) => new CallTalk({ call, link, clock, leave, onFault });
}

function connected(session: ResumableSession): ResumableSession {
  if (session.peer instanceof CallTalk) session.peer.connect(session.connection);
  return session;
}

function refusalOf(problem: Problem, mayRetry = false): Refusal {
  if (mayRetry) return { status: 503, problem, retryAfterSeconds: 5 };
  return { status: problem.code === 'resume_not_allowed' ? 403 : 404, problem };
}

const gone: Problem = {
  code: 'session_not_resumable',
  message: 'The session cannot be resumed: its grace period is over, or the token is wrong. Open a new one.',
};
const tooLate: Problem = {
  code: 'session_not_resumable',
  message: '`after` must be the last x_seq received, and the events after it must still be there. Open a new session.',
};
