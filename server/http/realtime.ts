import type { FastifyBaseLogger } from 'fastify';
import type { RawData, WebSocket } from 'ws';
import type { Character } from '../../characters/character.ts';
import { floatsFromPcm16 } from '../../voices/audio.ts';
import type { Config } from '../config.ts';
import type { Engines } from '../engines.ts';
import { errorObject } from '../errors.ts';
import { Link, type Carrier } from '../link/link.ts';
import { newToken, type Lobby, type Seat } from '../link/lobby.ts';
import { decodeFrame } from '../protocol/binary-frame.ts';
import { limits, wireSampleRate } from '../protocol/limits.ts';
import { newId, openConnection } from '../realtime/connection.ts';
import { systemClock } from '../session/clock.ts';
import type { Problem } from '../session/events.ts';

/** WebSocket close codes (RFC 6455 §7.4.1; 4000 and up are our own) and when we use them. */
const closeCodes = { normal: 1000, policy: 1008, replaced: 4001 } as const;
const pingMs = 25_000;

interface Deps {
  readonly config: Config;
  readonly engines: Engines;
  readonly characters: ReadonlyMap<string, Character>;
  readonly lobby: Lobby;
}

const expired = { code: 'session_expired', message: 'The session reached its time limit. Open a new one.' } as const;

/** Who a client wants to talk to. A stock client that names an OpenAI model, or none, gets the default character. */
export function characterFor(
  model: string | undefined,
  deps: Pick<Deps, 'config' | 'characters'>,
): Character | undefined {
  const named = model === undefined ? undefined : deps.characters.get(model);
  if (named !== undefined) return named;
  const foreign = model === undefined || model === '' || /^(gpt|o\d|chatgpt)-/.test(model);
  return foreign ? deps.characters.get(deps.config.defaultCharacter) : undefined;
}

/** What the address of a WebSocket asks for. */
export interface SocketRequest {
  readonly model?: string;
  /** Extensions agreed at once, comma-separated: `binary`, `resume`. */
  readonly x?: string;
  /** Token of a session to go on with, and the last frame of it that the client has. */
  readonly resume?: string;
  readonly after?: string;
}

/** Serves one WebSocket: opens a session, or goes on with one that lost its socket. */
export function serveSocket(socket: WebSocket, request: SocketRequest, deps: Deps, log: FastifyBaseLogger): void {
  socket.on('error', (fault) => log.info({ fault: fault.message }, 'socket error'));
  const carrier = carrierOf(socket);
  const heartbeat = keepAlive(socket);
  socket.once('close', () => clearInterval(heartbeat));
  if (request.resume !== undefined) return resumeSession(socket, carrier, request.resume, request.after, deps.lobby);
  const character = characterFor(request.model, deps);
  if (character === undefined) {
    const known = [...deps.characters.keys()].join(', ');
    const message = `There is no character "${(request.model ?? '').slice(0, 64)}". Known: ${known}.`;
    return refuse(socket, { code: 'unknown_character', message });
  }
  openSession(socket, carrier, character, request, deps, log);
}

function openSession(
  socket: WebSocket,
  carrier: Carrier,
  character: Character,
  request: SocketRequest,
  deps: Deps,
  log: FastifyBaseLogger,
): void {
  const extensions = new Set((request.x ?? '').split(','));
  const token = extensions.has('resume') ? newToken() : undefined;
  const link = new Link({
    binary: extensions.has('binary'),
    resumable: token !== undefined,
    keptBytes: limits.keptBytes,
    newEventId: () => newId('event'),
  });
  link.attach(carrier);
  const maxSessionMs = deps.config.maxSessionMinutes * 60_000;
  const connection = openConnection(
    {
      character,
      responder: deps.engines.responderFor(character),
      vad: deps.engines.vad,
      model: request.model ?? character.id,
      recognizerName: deps.engines.recognizer.name,
      about: {
        ...aboutSession(character, deps.engines),
        extensions: ['heard', 'binary', 'resume'],
        ...(token === undefined ? {} : { resume: { token, grace_s: deps.lobby.graceMs / 1000 } }),
      },
      aheadMs: deps.config.playoutAheadMs,
      clock: systemClock,
      maxSessionMs,
      onFault: (fault) => log.error({ fault: fault instanceof Error ? fault.stack : String(fault) }, 'session fault'),
      admit: (message) => admit(link, message),
    },
    link,
  );
  log.info({ session: connection.id, character: character.id }, 'session opened');
  if (token !== undefined) deps.lobby.seat(token, { link, connection });
  carry(socket, carrier, { link, connection }, token, deps.lobby);
  const expiry = setTimeout(() => {
    link.send({ type: 'error', event_id: newId('event'), error: errorObject(expired) });
    connection.close();
  }, maxSessionMs);
  void connection.done.then((reason) => {
    clearTimeout(expiry);
    log.info({ session: connection.id, reason }, 'session closed');
    link.close(reason === 'client_too_slow' ? reason : 'ended');
  });
}

/** Puts a new socket in the place of the one that broke. */
function resumeSession(
  socket: WebSocket,
  carrier: Carrier,
  token: string,
  after: string | undefined,
  lobby: Lobby,
): void {
  const seat = lobby.claim(token);
  if (seat === undefined) {
    const message = 'There is no session to go on with: its grace time is over, or the token is wrong. Open a new one.';
    return refuse(socket, { code: 'session_not_resumable', message });
  }
  const greeting = (received: number): string =>
    JSON.stringify({ type: 'x_dramatis.resumed', event_id: newId('event'), received });
  if (!seat.link.attach(carrier, Number(after ?? Number.NaN), greeting)) {
    const message =
      '`after` must be the last x_seq received; what follows it may no longer be kept. Open a new session.';
    refuse(socket, { code: 'session_not_resumable', message });
    return void (seat.link.attached || lobby.leave(token));
  }
  seat.connection.away(false);
  carry(socket, carrier, seat, token, lobby);
}

/** Hands what the socket brings to the session; when the socket goes, the session ends or waits. */
function carry(socket: WebSocket, carrier: Carrier, seat: Seat, token: string | undefined, lobby: Lobby): void {
  const { link, connection } = seat;
  socket.on('message', (data: RawData, isBinary: boolean) => {
    if (!isBinary) return connection.receive((data as Buffer).toString('utf8'));
    const frame = decodeFrame(data as Buffer);
    if (frame?.kind !== 'input') return connection.receiveBinary();
    if (link.takes(frame.sequence)) connection.receiveAudio(floatsFromPcm16(frame.pcm16), wireSampleRate);
  });
  socket.once('close', () => {
    link.detach(carrier);
    if (link.attached) return;
    if (token === undefined || !lobby.leave(token)) connection.close();
  });
}

/** Looks at the numbers of a client's message: drops what was taken before, and forgets what the client has. */
function admit(link: Link, message: unknown): boolean {
  if (typeof message !== 'object' || message === null) return true;
  const { type, x_seq: sequence, x_ack: acknowledged } = message as Record<string, unknown>;
  if (typeof acknowledged === 'number') link.acknowledge(acknowledged);
  if (!link.takes(typeof sequence === 'number' ? sequence : undefined)) return false;
  return type !== 'x_dramatis.ack';
}

function carrierOf(socket: WebSocket): Carrier {
  return {
    send(frame) {
      if (socket.readyState !== socket.OPEN) return true;
      if (socket.bufferedAmount + frame.length > limits.unsentBytes) return false;
      socket.send(frame);
      return true;
    },
    close(reason) {
      // A client that does not read would not read a close frame either.
      if (reason === 'client_too_slow') socket.terminate();
      else socket.close(reason === 'replaced' ? closeCodes.replaced : closeCodes.normal, reason);
    },
  };
}

/** Ends connections whose other side has silently gone. */
function keepAlive(socket: WebSocket): NodeJS.Timeout {
  let answered = true;
  socket.on('pong', () => (answered = true));
  return setInterval(() => {
    if (!answered) return socket.terminate();
    answered = false;
    if (socket.readyState === socket.OPEN) socket.ping();
  }, pingMs);
}

function refuse(socket: WebSocket, problem: Problem): void {
  if (socket.readyState === socket.OPEN) {
    socket.send(JSON.stringify({ type: 'error', event_id: newId('event'), error: errorObject(problem) }));
  }
  socket.close(closeCodes.policy, problem.code);
}

function aboutSession(character: Character, engines: Engines): Record<string, unknown> {
  const { id, name, tagline, languages } = character;
  return {
    character: { id, name, tagline, languages },
    greeting: character.greetings[0] ?? null,
    engines: Object.fromEntries(engines.summary.map((engine) => [engine.stage, engine.name])),
  };
}
