import type { FastifyBaseLogger } from 'fastify';
import type { RawData, WebSocket } from 'ws';
import type { Character } from '../../../characters/character.ts';
import { sceneModel } from '../../../characters/scene.ts';
import { floatsFromPcm16 } from '../../../voices/audio.ts';
import { decodeFrame } from '../../protocol/binary-frame.ts';
import { journalFile, keptMessageOf, readJournal } from '../../journal/journal.ts';
import type { Transport } from './resumable-stream.ts';
import { hashOf, newToken, type ResumableSessions, type ResumableSession } from './resumable-sessions.ts';
import { SessionOpus } from './session-opus.ts';
import { restore, type RestoredSession } from '../../journal/restore.ts';
import { userName } from '../../protocol/client-events.ts';
import { limits, wireSampleRate } from '../../protocol/limits.ts';
import { toBeta } from '../../realtime/beta.ts';
import { newId } from '../../realtime/new-id.ts';
import { wireItem } from '../../realtime/wire-items.ts';
import type { Problem } from '../../session/contract/events.ts';
import type { ClientSecret } from '../../http/client-secrets.ts';
import { openSession, type SessionDeps, type SessionOptions } from './open-session.ts';
import { socketTransport, keepAlive, refuse } from './socket-transport.ts';

/**
 * Resolves a model name to a character. A stock client that names an OpenAI model, or none, gets the default character.
 */
export function characterFor(
  model: string | undefined,
  deps: Pick<SessionDeps, 'config' | 'characters'>,
): Character | undefined {
  const named = model === undefined ? undefined : deps.characters.get(model);
  if (named !== undefined) return named;
  return namesNobody(model) ? deps.characters.get(deps.config.defaultCharacter) : undefined;
}

/** The error for an unknown character or scene; lists the known ones. */
export function noSuchCharacter(model: string | undefined, deps: Pick<SessionDeps, 'characters'>): Problem {
  const known = [...deps.characters.keys()].join(', ');
  const isScene = model?.startsWith(sceneModel('')) === true;
  const code = isScene ? 'unknown_scene' : 'unknown_character';
  const what = isScene ? 'scene' : 'character';
  return { code, message: `There is no ${what} "${(model ?? '').slice(0, 64)}". Known: ${known}.` };
}

/** Resolves the character of a session. With a client secret, only the character that it was made for is allowed. */
export function resolveCharacter(
  model: string | undefined,
  secret: ClientSecret | undefined,
  deps: SessionDeps,
): Character | Problem {
  if (secret === undefined) return characterFor(model, deps) ?? noSuchCharacter(model, deps);
  const { character } = secret;
  if (namesNobody(model) || model === character.id) return character;
  const message = `The client secret is for ${character.id}. Leave \`model\` out, or make another one.`;
  return { code: 'character_not_allowed', message };
}

function namesNobody(model: string | undefined): boolean {
  return model === undefined || model === '' || /^(gpt|o\d|chatgpt)-/.test(model);
}

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

function extensionsOf({ x = '' }: SocketRequest): ReadonlySet<string> {
  return new Set(x.split(','));
}

/** Session options that follow from the client's extensions. */
function agreedIn(
  extensions: ReadonlySet<string>,
  opus: SessionOpus | undefined,
): Pick<SessionOptions, 'binary' | 'holds' | 'nods' | 'notice' | 'reportsVoiceSimilarity' | 'cues' | 'opus'> {
  const binary = opus !== undefined || extensions.has('binary');
  const [holds, nods, notice] = [extensions.has('hold'), extensions.has('nod'), extensions.has('notice')];
  const cues = extensions.has('thoughts') ? 'all' : extensions.has('cues') ? 'visible' : 'none';
  return { binary, opus, holds, nods, notice, cues, reportsVoiceSimilarity: extensions.has('voice') };
}

/** Serves one WebSocket: opens a session, or resumes one that lost its socket. */
export function serveSocket(
  socket: WebSocket,
  request: SocketRequest,
  deps: SessionDeps,
  log: FastifyBaseLogger,
): void {
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
  deps: SessionDeps,
  log: FastifyBaseLogger,
  opus?: SessionOpus,
): ResumableSession | undefined {
  const carrier = socketTransport(socket);
  if (request.resume !== undefined)
    return resumeSession(socket, carrier, request.resume, { ...request, opus }, deps, log);
  const { visitor } = deps;
  const intent = request.intent === 'transcription' ? request.intent : undefined;
  const character = resolveCharacter(intent === undefined ? request.model : undefined, visitor.secret, deps);
  if ('code' in character) return refuseSocket(socket, character);
  // The last slot may have been taken since the check during the handshake.
  const refusal = deps.sessions.refusalFor(visitor);
  if (refusal !== undefined) return refuseSocket(socket, refusal.problem, 'tryLater');
  const user = resolveUser(request, visitor);
  if (typeof user === 'object') return refuseSocket(socket, user);
  const extensions = extensionsOf(request);
  const token = extensions.has('resume') ? newToken() : undefined;
  const seat = openSession(
    {
      character,
      model: request.model ?? character.id,
      ...agreedIn(extensions, opus),
      beta: request.beta === true,
      carrier,
      startWith: visitor.secret?.startWith,
      intent,
      user,
      ...(token === undefined ? {} : { token }),
    },
    deps,
    log,
  );
  carry(socket, carrier, seat, token, deps.lobby);
  return seat;
}

/** Validates the user that the client names. With a client secret, only the user it was made for is allowed. */
export function resolveUser(
  { user }: Pick<SocketRequest, 'user'>,
  { secret }: SessionDeps['visitor'],
): string | undefined | Problem {
  if (user === undefined) return undefined;
  if (!userName.safeParse(user).success) {
    const message = `A user name must have 1 to ${limits.userCharacters} characters.`;
    return { code: 'invalid_value', message, param: 'user' };
  }
  if (secret === undefined || secret.startWith?.x_dramatis?.user === user) return user;
  const message = 'The client secret belongs to another user, or to none. Make one with `session.x_dramatis.user`.';
  return { code: 'user_not_allowed', message, param: 'user' };
}

function refuseSocket(...refusal: Parameters<typeof refuse>): undefined {
  refuse(...refusal);
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
  deps: SessionDeps,
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
    return refuseSocket(socket, { code: 'session_not_resumable', message });
  }
  const greeting = (received: number): string =>
    JSON.stringify({ type: 'x_dramatis.resumed', event_id: newId('event'), received });
  if (!seat.link.attach(carrier, Number(request.after ?? Number.NaN), greeting)) {
    const message =
      '`after` must be the last x_seq received, and the events after it must still be buffered. Open a new session.';
    if (!seat.link.attached) lobby.leave(token);
    return refuseSocket(socket, { code: 'session_not_resumable', message });
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
  deps: SessionDeps,
  log: FastifyBaseLogger,
): Restored | undefined {
  if (!deps.config.store || deps.sessions.refusalFor(deps.visitor) !== undefined) return undefined;
  const lines = readJournal(journalFile(deps.config.dataDir, hashOf(token)));
  const restored = lines === undefined ? undefined : restore(lines, deps.config.playoutAheadMs);
  const character = restored === undefined ? undefined : deps.characters.get(restored.character);
  if (restored === undefined || character === undefined) return undefined;
  const { model, intent, beta } = restored;
  const agreed = agreedIn(extensionsOf(request), request.opus);
  const seat = openSession({ character, model, ...agreed, token, restored, intent, beta }, deps, log);
  for (const { replyId, item } of restored.openReplies) {
    const kept = item === undefined ? {} : { item: keptMessageOf(item) };
    seat.journal?.write({ type: 'ended', replyId, ...kept });
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
      object: 'realtime.response',
      status: 'cancelled',
      status_details: { type: 'cancelled', reason: 'server_restarted' },
      output: item === undefined ? [] : [wireItem(item)],
      usage: null,
    };
    const done = { type: 'response.done', event_id: newId('event'), response };
    for (const event of beta ? toBeta(done) : [done]) seat.link.send(event);
  }
}

/** RFC 6455 §7.4.1, normal closure: the client does not intend to resume. */
const hungUp = 1000;

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
    else connection.receive(data as Buffer);
  });
  socket.once('close', (code: number) => {
    link.detach(carrier);
    if (link.attached) return;
    if (code === hungUp || token === undefined || !lobby.leave(token)) connection.close();
  });
}

/** Takes a binary frame: audio of the user, as PCM or Opus. */
function hear(data: Buffer, { link, connection, opus }: ResumableSession): void {
  const frame = decodeFrame(data);
  if (frame?.kind !== 'input') return connection.receiveBinary();
  if ('opus' in frame && opus === undefined) return connection.receiveBinary(opusNotAgreed);
  if (!link.takes(frame.sequence)) return;
  const samples = 'opus' in frame ? opus?.decode(frame.opus) : floatsFromPcm16(frame.pcm16);
  if (samples === undefined) connection.receiveBinary(brokenOpus);
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
