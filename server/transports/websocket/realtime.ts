import type { FastifyBaseLogger } from 'fastify';
import type { RawData, WebSocket } from 'ws';
import type { ServerEvent } from '../../protocol/server-events.ts';
import { floatsFromPcm16 } from '../../../voices/audio.ts';
import { decodeFrame } from '../../protocol/binary-frame.ts';
import { Journal, journalFile, keptMessageOf, readJournal } from '../../journal/journal.ts';
import { type Transport, socketTransport, keepAlive, closeCodes } from '../../connections/socket-transport.ts';
import { hashOf, newToken, type ResumableSessions, type ResumableSession } from './resumable-sessions.ts';
import { ResumableStream } from './resumable-stream.ts';
import { SessionOpus } from './session-opus.ts';
import { restore, type RestoredSession } from '../../journal/restore.ts';
import { limits, wireSampleRate } from '../../protocol/limits.ts';
import { toBeta } from '../../realtime/beta.ts';
import { newId } from '../../realtime/new-id.ts';
import type { Client } from '../../realtime/peer.ts';
import { wireItem } from '../../realtime/wire-items.ts';
import { systemClock } from '../../session/contract/clock.ts';
import type { Problem } from '../../session/contract/events.ts';
import { openSession, type SessionDeps, type SessionOptions } from '../../connections/open-session.ts';
import { resolveCharacter, resolveUser } from '../../connections/caller-choice.ts';
import { errorObject } from '../../session/contract/errors.ts';

/** The query parameters of a WebSocket. */
export interface SocketRequest {
  readonly model?: string;
  /** `transcription`: the session only transcribes; then `model` names a recognizer, not a character. */
  readonly intent?: string;
  /**
   * Extensions to enable, comma-separated: `binary`, `opus` (implies binary), `resume`, `hold`, `nod`, `notice`,
   * `voice`, `cues`, `thoughts`.
   */
  readonly x?: string;
  /** Resume token, and the sequence number of the last frame that the client received. */
  readonly resume?: string;
  readonly after?: string;
  /** The user that the character is to remember. */
  readonly user?: string;
  /** The client speaks the pre-GA dialect. */
  readonly beta?: boolean;
}

const extensionsOf = ({ x = '' }: SocketRequest): ReadonlySet<string> => new Set(x.split(','));

/** What the client understands, by its extensions. */
function clientOf(extensions: ReadonlySet<string>, beta: boolean): Client {
  return {
    beta,
    holds: extensions.has('hold'),
    nods: extensions.has('nod'),
    notice: extensions.has('notice'),
    cues: extensions.has('thoughts') ? 'all' : extensions.has('cues') ? 'visible' : 'none',
    voice: extensions.has('voice'),
  };
}

/** Dependencies of the sessions of WebSockets. */
export interface SocketDeps extends SessionDeps {
  readonly lobby: ResumableSessions;
}

/** How one client is connected. */
interface Line {
  readonly extensions: ReadonlySet<string>;
  readonly opus: SessionOpus | undefined;
  readonly token: string | undefined;
  /** Carries frames from the first one on. */
  readonly carrier?: Transport;
}

/** Opens a session behind a stream of frames. Registers it for resumption if it has a token. */
function openStream(
  line: Line,
  options: Omit<SessionOptions, 'journal' | 'resume'>,
  deps: SocketDeps,
  log: FastifyBaseLogger,
): ResumableSession {
  const { extensions, opus, token, carrier } = line;
  const { config, lobby, clock = systemClock } = deps;
  const isStored = token !== undefined && config.store;
  const journal = isStored ? new Journal(journalFile(config.dataDir, hashOf(token))) : undefined;
  const link = new ResumableStream(
    {
      binary: opus !== undefined || extensions.has('binary'),
      opus,
      resumable: token !== undefined,
      keptBytes: limits.keptBytes,
      newEventId: () => newId('event'),
      now: () => clock.now(),
      beforeSend: (sequence) => journal?.reserve(sequence),
    },
    options.restored?.sequence,
  );
  if (carrier !== undefined) link.attach(carrier);
  const resume = token === undefined ? undefined : { token, grace_s: lobby.graceMs / 1000 };
  const connection = openSession({ ...options, journal, resume }, link, deps, log);
  const seat: ResumableSession = { link, connection, opus, journal };
  if (token !== undefined) lobby.seat(token, seat);
  void connection.done.then(() => opus?.close());
  return seat;
}

/** Serves one WebSocket: opens a session, or resumes one that lost its socket. */
export function serveSocket(socket: WebSocket, request: SocketRequest, deps: SocketDeps, log: FastifyBaseLogger): void {
  socket.on('error', (fault) => log.info({ fault: fault.message }, 'socket error'));
  keepAlive(socket, deps.clock);
  if (!extensionsOf(request).has('opus')) return void seatSocket(socket, request, deps, log);
  // Keeps messages from being lost while Opus loads.
  socket.pause();
  SessionOpus.open().then(
    (opus) => {
      socket.resume();
      const seat = socket.readyState === socket.OPEN ? seatSocket(socket, request, deps, log, opus) : undefined;
      if (seat?.opus !== opus) opus.close();
    },
    (fault: unknown) => {
      log.error({ fault: String(fault) }, 'Opus failed to load');
      socket.resume();
      refuse(socket, {
        code: 'internal_error',
        message: 'The server cannot load Opus. Request `binary` without `opus`.',
      });
    },
  );
}

/** Opens or resumes a session for the socket. Returns undefined if it was refused. */
function seatSocket(
  socket: WebSocket,
  request: SocketRequest,
  deps: SocketDeps,
  log: FastifyBaseLogger,
  opus?: SessionOpus,
): ResumableSession | undefined {
  const carrier = socketTransport(socket);
  if (request.resume !== undefined)
    return resumeSession(socket, carrier, request.resume, { ...request, opus }, deps, log);
  const { visitor } = deps;
  const intent = request.intent === 'transcription' ? request.intent : undefined;
  const character = resolveCharacter(intent === undefined ? request.model : undefined, visitor.secret, deps);
  if ('code' in character) return refuse(socket, character);
  // The last slot may have been taken since the check during the handshake.
  const refusal = deps.sessions.refusalFor(visitor);
  if (refusal !== undefined) return refuse(socket, refusal.problem, 'tryLater');
  const user = resolveUser(request.user, visitor.secret);
  if (typeof user === 'object') return refuse(socket, user);
  const extensions = extensionsOf(request);
  const token = extensions.has('resume') ? newToken() : undefined;
  const seat = openStream(
    { extensions, opus, token, carrier },
    {
      character,
      model: request.model ?? character.id,
      client: clientOf(extensions, request.beta === true),
      startWith: visitor.secret?.startWith,
      intent,
      user,
    },
    deps,
    log,
  );
  carry(socket, carrier, seat, token, deps.lobby);
  return seat;
}

/** Sends an error to a connection that is refused, and closes it. */
function refuse(socket: WebSocket, problem: Problem, code: 'policy' | 'tryLater' = 'policy'): undefined {
  if (socket.readyState === socket.OPEN) {
    socket.send(JSON.stringify({ type: 'error', event_id: newId('event'), error: errorObject(problem) }));
  }
  socket.close(closeCodes[code], problem.code);
}

interface Resumption extends SocketRequest {
  /** Used for a session restored from another server process. */
  readonly opus: SessionOpus | undefined;
}

/** Attaches a new socket to a session that lost its own, or to one restored from another server process. */
function resumeSession(
  socket: WebSocket,
  carrier: Transport,
  token: string,
  request: Resumption,
  deps: SocketDeps,
  log: FastifyBaseLogger,
): ResumableSession | undefined {
  const { lobby } = deps;
  const seat = lobby.claim(token);
  if (seat === undefined) {
    const restored = restoreSession(token, request, deps, log);
    if (restored !== undefined) {
      carry(socket, carrier, restored.seat, token, lobby);
      greetAgain(restored, carrier);
      return restored.seat;
    }
    const message = 'The session cannot be resumed: its grace period is over, or the token is wrong. Open a new one.';
    return refuse(socket, { code: 'session_not_resumable', message });
  }
  const greeting = (received: number): string =>
    JSON.stringify({ type: 'x_dramatis.resumed', event_id: newId('event'), received });
  if (!seat.link.attach(carrier, Number(request.after ?? Number.NaN), greeting)) {
    const message =
      '`after` must be the last x_seq received, and the events after it must still be buffered. Open a new session.';
    if (!seat.link.attached) lobby.leave(token);
    return refuse(socket, { code: 'session_not_resumable', message });
  }
  seat.connection.away(false);
  carry(socket, carrier, seat, token, lobby);
  return seat;
}

interface Restored extends Pick<RestoredSession, 'openReplies' | 'beta'> {
  readonly seat: ResumableSession;
}

/** Restores a session of a dead server process from its journal. */
function restoreSession(
  token: string,
  request: Resumption,
  deps: SocketDeps,
  log: FastifyBaseLogger,
): Restored | undefined {
  if (!deps.config.store || deps.sessions.refusalFor(deps.visitor) !== undefined) return undefined;
  const lines = readJournal(journalFile(deps.config.dataDir, hashOf(token)));
  const restored = lines === undefined ? undefined : restore(lines, deps.config.playoutAheadMs);
  const character = restored === undefined ? undefined : deps.characters.get(restored.character);
  if (restored === undefined || character === undefined) return undefined;
  const { model, intent, beta } = restored;
  const extensions = extensionsOf(request);
  const client = clientOf(extensions, beta);
  const line: Line = { extensions, opus: request.opus, token };
  const seat = openStream(line, { character, model, client, restored, intent }, deps, log);
  for (const { replyId, item } of restored.openReplies) {
    seat.journal?.write({ type: 'ended', replyId, item: item && keptMessageOf(item) });
  }
  return { seat, openReplies: restored.openReplies, beta: restored.beta };
}

/** Tells the client that the session was restored, and that replies in progress were cancelled by the restart. */
function greetAgain({ seat, openReplies, beta }: Restored, carrier: Transport): void {
  const greeting = (): string =>
    JSON.stringify({ type: 'x_dramatis.resumed', event_id: newId('event'), received: null, restarted: true });
  seat.link.attach(carrier, undefined, greeting);
  for (const { replyId, item } of openReplies) {
    const response = {
      id: replyId,
      object: 'realtime.response' as const,
      status: 'cancelled' as const,
      status_details: { type: 'cancelled', reason: 'server_restarted' },
      output: item === undefined ? [] : [wireItem(item)],
      usage: null,
    };
    const done: ServerEvent = { type: 'response.done', event_id: newId('event'), response };
    for (const event of beta ? toBeta(done) : [done]) seat.link.send(event);
  }
}

/**
 * Passes messages of the socket to the session. When the socket closes, the session ends, or waits for the grace
 * period.
 */
function carry(
  socket: WebSocket,
  carrier: Transport,
  seat: ResumableSession,
  token: string | undefined,
  lobby: ResumableSessions,
): void {
  const { link, connection } = seat;
  socket.on('message', (data: RawData, isBinary: boolean) => {
    if (isBinary) hear(data as Buffer, seat);
    else connection.receiveText(data as Buffer);
  });
  socket.once('close', (code: number) => {
    // With the normal code, the client does not intend to resume.
    link.detach(carrier);
    if (link.attached) return;
    if (code === closeCodes.ended || token === undefined || !lobby.leave(token)) connection.close();
  });
}

/** Takes a binary frame: audio of the user, as PCM or Opus. */
function hear(data: Buffer, { link, connection, opus }: ResumableSession): void {
  const frame = decodeFrame(data);
  if (frame?.kind !== 'input') return connection.reject();
  if ('opus' in frame && opus === undefined) return connection.reject(opusNotAgreed);
  if (!link.takes(frame.sequence)) return;
  const samples = 'opus' in frame ? opus?.decode(frame.opus) : floatsFromPcm16(frame.pcm16);
  if (samples === undefined) connection.reject(brokenOpus);
  else if (samples.length > 0) connection.receiveAudio(samples, wireSampleRate);
}

const opusNotAgreed: Problem = {
  code: 'binary_not_supported',
  message: 'Opus was not negotiated. Request it in the URL (`x=opus`), or send PCM.',
};
const brokenOpus: Problem = {
  code: 'invalid_audio',
  message: 'The frame has no Opus packet, or an incomplete one. It was skipped; send the next one.',
};
