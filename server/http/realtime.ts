import type { FastifyBaseLogger } from 'fastify';
import type { RawData, WebSocket } from 'ws';
import type { Character } from '../../characters/character.ts';
import type { Config } from '../config.ts';
import type { Engines } from '../engines.ts';
import { errorObject } from '../errors.ts';
import { limits } from '../protocol/limits.ts';
import { openConnection, type Connection } from '../realtime/connection.ts';
import { systemClock } from '../session/clock.ts';
import type { Problem } from '../session/events.ts';

/** WebSocket close codes (RFC 6455 §7.4.1, and 1013 of the IANA registry) and when we use them. */
const closeCodes = { goingAway: 1001, policy: 1008 } as const;
const pingMs = 25_000;

interface Deps {
  readonly config: Config;
  readonly engines: Engines;
  readonly characters: ReadonlyMap<string, Character>;
}

/** The conversations under way, for counting, for the health page and for a clean stop. */
export class LiveSessions {
  readonly #sockets = new Set<WebSocket>();
  #opened = 0;

  get active(): number {
    return this.#sockets.size;
  }

  get opened(): number {
    return this.#opened;
  }

  add(socket: WebSocket): void {
    this.#opened += 1;
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }

  /** Tells every client that the server goes away. */
  closeAll(): void {
    for (const socket of this.#sockets) socket.close(closeCodes.goingAway, 'the server is stopping');
  }
}

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

/** Serves one WebSocket: finds the character, opens the session, carries frames, keeps the connection alive. */
export function serveSocket(socket: WebSocket, model: string | undefined, deps: Deps, log: FastifyBaseLogger): void {
  socket.on('error', (fault) => log.info({ fault: fault.message }, 'socket error'));
  const character = characterFor(model, deps);
  if (character === undefined) {
    const known = [...deps.characters.keys()].join(', ');
    const message = `There is no character "${(model ?? '').slice(0, 64)}". Known: ${known}.`;
    return refuse(socket, { code: 'unknown_character', message });
  }
  const connection = openConnection(
    {
      character,
      responder: deps.engines.responderFor(character),
      vad: deps.engines.vad,
      model: model ?? character.id,
      recognizerName: deps.engines.recognizer.name,
      about: aboutSession(character, deps.engines),
      aheadMs: deps.config.playoutAheadMs,
      clock: systemClock,
      maxSessionMs: deps.config.maxSessionMinutes * 60_000,
      onFault: (fault) => log.error({ fault: fault instanceof Error ? fault.stack : String(fault) }, 'session fault'),
    },
    { send: (event) => sendPaced(socket, JSON.stringify(event)) },
  );
  log.info({ session: connection.id, character: character.id }, 'session opened');
  carry(socket, connection);
  const expiry = setTimeout(() => {
    refuse(socket, { code: 'session_expired', message: 'The session reached its time limit. Open a new one.' });
  }, deps.config.maxSessionMinutes * 60_000);
  const heartbeat = keepAlive(socket);
  void connection.done.then((reason) => {
    clearTimeout(expiry);
    clearInterval(heartbeat);
    log.info({ session: connection.id, reason }, 'session closed');
    // A client that does not read would not read a close frame either.
    if (reason === 'client_too_slow') socket.terminate();
  });
}

function carry(socket: WebSocket, connection: Connection): void {
  socket.on('message', (data: RawData, isBinary: boolean) => {
    if (isBinary) connection.receiveBinary();
    else connection.receive((data as Buffer).toString('utf8'));
  });
  socket.once('close', () => connection.close());
}

function sendPaced(socket: WebSocket, frame: string): boolean {
  if (socket.readyState !== socket.OPEN) return true;
  if (socket.bufferedAmount + frame.length > limits.unsentBytes) return false;
  socket.send(frame);
  return true;
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
    socket.send(JSON.stringify({ type: 'error', event_id: `event_${problem.code}`, error: errorObject(problem) }));
  }
  socket.close(closeCodes.policy, problem.code);
}

function aboutSession(character: Character, engines: Engines): unknown {
  const { id, name, tagline, languages } = character;
  return {
    character: { id, name, tagline, languages },
    greeting: character.greetings[0] ?? null,
    engines: Object.fromEntries(engines.summary.map((engine) => [engine.stage, engine.name])),
  };
}
