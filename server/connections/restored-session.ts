import type { FastifyBaseLogger } from 'fastify';
import type { Character } from '../../characters/character.ts';
import type { Transport } from './socket-transport.ts';
import { JournalError } from '../journal/journal-file.ts';
import { keptMessageOf } from '../journal/event-lines.ts';
import type { JournalLine } from '../journal/lines.ts';
import { restore, type ReceivedReply, type RestoredSession, type ToldEvent } from '../journal/restore.ts';
import { wireSampleRate } from '../protocol/limits.ts';
import type { ServerEvent } from '../protocol/server-events.ts';
import { toBeta } from '../realtime/beta.ts';
import { newId, wireItem } from '../realtime/encode.ts';
import type { Problem } from '../session/contract/events.ts';
import { openStream, type Line, type SocketDeps } from './open-stream.ts';
import { hashOf, type ResumableSession } from './resumable-sessions.ts';
import { openerOf, resumeProblem } from './session-binding.ts';
import type { SessionOpus } from './session-opus.ts';
import { clientOf, extensionsOf, type SocketRequest } from './socket-request.ts';

/** Sequence numbers of binary frames have 32 bits. */
const mostSequence = 2 ** 31;

/** A client that asks for its session again, with Opus loaded if it asks for that. */
export interface Returning {
  readonly request: SocketRequest;
  readonly deps: SocketDeps;
  readonly log: FastifyBaseLogger;
  readonly opus?: SessionOpus;
  /** Set for calls, whose clients cannot report how much of a reply they received: it is the part that was played. */
  readonly call?: Pick<Line, 'peerOf'> & { readonly medium: 'call' | 'phone' };
}

/** A session that another process left behind, opened again. */
export interface Restored extends Pick<RestoredSession, 'openReplies' | 'beta' | 'kept' | 'unheard'> {
  readonly session: ResumableSession;
  /** Events of the other process that the client has not got. */
  readonly missed: readonly ServerEvent[];
  /** True if the client has had every frame of the other process, and nothing was in progress there. */
  readonly isWhole: boolean;
}

/** The reason why a session is not restored. */
export interface RestoreRefusal {
  readonly problem: Problem;
  /** The session is still there: another attempt may succeed. */
  readonly mayRetry?: true;
}

const gone: Problem = {
  code: 'session_not_resumable',
  message: 'The session cannot be resumed: its grace period is over, or the token is wrong. Open a new one.',
};
const newer: Problem = {
  code: 'server_busy',
  message: 'A newer version of the server stored this session. Another node can resume it. Try again.',
};
const unreadable: Problem = {
  code: 'session_not_resumable',
  message: 'The session cannot be resumed: its journal cannot be read. See the server’s log.',
};

/**
 * Restores a session of another server process from its journal. Returns the refusal if there is none, if it cannot be
 * read, or if the client may not have it now.
 */
export function restoreSession(token: string, returning: Returning): Restored | RestoreRefusal {
  const { request, opus, deps, log, call } = returning;
  const found = findLeft(token, returning);
  if ('problem' in found) return found;
  const { restored, character, caller } = found;
  const { model, intent, beta, openReplies, unheard } = restored;
  const extensions = extensionsOf(request);
  const client = clientOf(extensions, beta);
  const line: Line = { extensions, opus, token, peerOf: call?.peerOf };
  const last = lastReceived(request);
  const isWhole = last === restored.sequence && openReplies.length === 0 && unheard.length === 0;
  // A process that could not write its journal may have sent more than the journal says.
  const numbered = { ...restored, sequence: Math.max(restored.sequence, last) };
  const options = { character, model, client, restored: numbered, intent, medium: call?.medium };
  const session = openStream(line, options, { ...deps, caller }, log);
  for (const { replyId, item } of openReplies) {
    session.journal?.write({ type: 'ended', replyId, item: item && keptMessageOf(item) });
  }
  for (const itemId of unheard) session.journal?.write({ type: 'deleted', itemId });
  const missed = missedBy(last, restored);
  return { ...restored, session, missed, isWhole: isWhole && session.journal?.log.isShared === true };
}

/** Returns the refusal of a session whose journal cannot be read; a newer node may read a newer one. */
function refusalOf({ isNewer }: JournalError, { store }: SocketDeps): RestoreRefusal {
  return isNewer && store?.isShared === true ? { problem: newer, mayRetry: true } : { problem: unreadable };
}

/** Finds the session of a token in the journals, and checks that its client may have it. */
function findLeft(
  token: string,
  returning: Returning,
): { restored: RestoredSession; character: Character; caller: SocketDeps['caller'] } | RestoreRefusal {
  const { request, deps, log, call } = returning;
  const { config } = deps;
  const lines = linesOf(token, deps, log);
  if (lines instanceof JournalError) return refusalOf(lines, deps);
  const received = lines === undefined || call === undefined ? receivedReply(request) : playedReply(lines);
  const restored = lines === undefined ? undefined : restore(lines, config.playoutAheadMs, received);
  const character = restored === undefined ? undefined : deps.characters.get(restored.character);
  if (restored === undefined || character === undefined) return { problem: gone };
  const problem = resumeProblem(restored, deps.caller, { user: request.user, medium: call?.medium });
  if (problem !== undefined) return { problem };
  const opener = openerOf(restored, character, config.apiKeys);
  const caller = opener && { ...opener, address: deps.caller.address };
  if (caller === undefined) return { problem: gone };
  const full = deps.sessions.refusalFor(caller);
  if (full !== undefined) return { problem: full.problem, mayRetry: true };
  return { restored, character, caller };
}

/** The events that open a response; the events between them and its end are sent again as another response. */
const openers: readonly unknown[] = [
  'response.created',
  'response.output_item.added',
  'conversation.item.added',
  'conversation.item.created',
  'response.content_part.added',
];

/** Returns the events after the last frame that a client has. */
function missedBy(last: number, { told, openReplies }: RestoredSession): ServerEvent[] {
  const open = new Set<unknown>(openReplies.map(({ replyId }) => replyId));
  const missed = told.filter(({ sequence }) => sequence > last).map(({ event }) => event);
  return missed.filter(
    (event) => openers.includes(event['type']) || !open.has(replyOf(event)),
  ) as unknown as ServerEvent[];
}

function replyOf(event: ToldEvent['event']): unknown {
  const { response_id: id, response } = event as {
    readonly response_id?: unknown;
    readonly response?: { id?: unknown };
  };
  return id ?? response?.id;
}

/** The last frame that the client says it received; 0 if it does not say so. */
function lastReceived({ after }: SocketRequest): number {
  const last = Number(after ?? Number.NaN);
  return Number.isSafeInteger(last) && last <= mostSequence ? Math.max(0, last) : 0;
}

/** The reply of which the client says that it received a part. */
function receivedReply({ at = '' }: SocketRequest): ReceivedReply | undefined {
  const [, replyId, samples] = /^([\w-]{1,64})\.(\d{1,10})$/.exec(at) ?? [];
  if (replyId === undefined || samples === undefined) return undefined;
  return { replyId, receivedMs: (Number(samples) / wireSampleRate) * 1000 };
}

/** The reply that a call was playing, as far as it has been reported. */
function playedReply(lines: readonly JournalLine[]): ReceivedReply | undefined {
  const played = lines.findLast((line) => line.type === 'heard');
  return played && { replyId: played.replyId, receivedMs: played.heardMs };
}

function linesOf(
  token: string,
  { store }: SocketDeps,
  log: FastifyBaseLogger,
): JournalLine[] | JournalError | undefined {
  try {
    return store?.read(hashOf(token));
  } catch (fault) {
    if (!(fault instanceof JournalError)) throw fault;
    log.error({ fault: fault.message }, 'the journal of a session cannot be read');
    return fault;
  }
}

/**
 * Tells the client that the session was restored, which utterances will be heard again, and that replies in progress
 * were cancelled by the restart; nothing of that if it cannot notice.
 */
export function greetAgain(restored: Restored, carrier: Transport): void {
  const { session, openReplies, beta, kept, unheard, missed } = restored;
  const isUnnoticed = restored.isWhole && kept !== undefined;
  const facts = { received: kept ?? null, ...(isUnnoticed ? {} : { restarted: true }) };
  const greeting = (): string => JSON.stringify({ type: 'x_dramatis.resumed', event_id: newId('event'), ...facts });
  session.link.attach(carrier, undefined, greeting);
  for (const event of missed) session.link.send(event);
  for (const id of unheard) {
    session.link.send({ type: 'conversation.item.deleted', event_id: newId('event'), item_id: id });
  }
  for (const { replyId, item, cut } of openReplies.filter(({ isAnnounced }) => isAnnounced)) {
    // What the client has of a reply that continues sample by sample is played to its end.
    const status = cut === undefined ? ('cancelled' as const) : ('incomplete' as const);
    const response = {
      id: replyId,
      object: 'realtime.response' as const,
      status,
      status_details: { type: status, reason: 'server_restarted' },
      output: item === undefined ? [] : [wireItem(item)],
      usage: null,
    };
    const done: ServerEvent = { type: 'response.done', event_id: newId('event'), response };
    for (const event of beta ? toBeta(done) : [done]) session.link.send(event);
  }
}
