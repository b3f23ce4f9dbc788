import type { FastifyBaseLogger } from 'fastify';
import type { Character } from '../../characters/character.ts';
import type { Config } from '../config.ts';
import type { Engines } from '../engines.ts';
import { errorObject } from '../errors.ts';
import { Journal, journalFile } from '../link/journal.ts';
import { Link, type Carrier } from '../link/link.ts';
import { hashOf, type Lobby, type Seat } from '../link/lobby.ts';
import type { RestoredSession } from '../link/restore.ts';
import { limits } from '../protocol/limits.ts';
import { newId, openConnection } from '../realtime/connection.ts';
import { systemClock } from '../session/clock.ts';

/** What the server has, for any socket. */
export interface SocketDeps {
  readonly config: Config;
  readonly engines: Engines;
  readonly characters: ReadonlyMap<string, Character>;
  readonly lobby: Lobby;
}

/** How a session is to begin. */
export interface Opening {
  readonly character: Character;
  readonly model: string;
  readonly binary: boolean;
  /** Carries its frames from the first on. */
  readonly carrier?: Carrier;
  /** Its client may come back with this. */
  readonly token?: string;
  readonly restored?: RestoredSession;
}

const expired = { code: 'session_expired', message: 'The session reached its time limit. Open a new one.' } as const;

/** Opens a session behind a link that has no carrier yet, and seats it where it can be resumed. */
export function openSession(opening: Opening, deps: SocketDeps, log: FastifyBaseLogger): Seat {
  const { character, model, token, restored } = opening;
  const { config, engines, lobby } = deps;
  const journal =
    token !== undefined && config.store ? new Journal(journalFile(config.dataDir, hashOf(token))) : undefined;
  const link = new Link(
    {
      binary: opening.binary,
      resumable: token !== undefined,
      keptBytes: limits.keptBytes,
      newEventId: () => newId('event'),
      beforeSend: (sequence) => journal?.reserve(sequence),
    },
    restored?.sequence,
  );
  if (opening.carrier !== undefined) link.attach(opening.carrier);
  const maxSessionMs = config.maxSessionMinutes * 60_000;
  const connection = openConnection(
    {
      character,
      responder: engines.responderFor(character),
      vad: engines.vad,
      model,
      recognizerName: engines.recognizer.name,
      about: {
        ...aboutSession(character, engines),
        extensions: ['heard', 'binary', 'resume'],
        ...(token === undefined ? {} : { resume: { token, grace_s: lobby.graceMs / 1000 } }),
      },
      aheadMs: config.playoutAheadMs,
      clock: systemClock,
      maxSessionMs,
      onFault: (fault) => log.error({ fault: fault instanceof Error ? fault.stack : String(fault) }, 'session fault'),
      admit: (message) => admit(link, message),
      ...(journal === undefined ? {} : { journal }),
      ...(restored === undefined ? {} : { restored }),
    },
    link,
  );
  if (restored === undefined) journal?.write({ type: 'open', id: connection.id, character: character.id, model });
  log.info(
    { session: connection.id, character: character.id },
    restored === undefined ? 'session opened' : 'session restored',
  );
  const expiry = setTimeout(() => {
    link.send({ type: 'error', event_id: newId('event'), error: errorObject(expired) });
    connection.close();
  }, maxSessionMs);
  const seat: Seat = { link, connection, ...(journal === undefined ? {} : { journal }) };
  if (token !== undefined) lobby.seat(token, seat);
  void connection.done.then((reason) => {
    clearTimeout(expiry);
    log.info({ session: connection.id, reason }, 'session closed');
    link.close(reason === 'client_too_slow' ? reason : 'ended');
  });
  return seat;
}

/** Looks at the numbers of a client's message: drops what was taken before, and forgets what the client has. */
function admit(link: Link, message: unknown): boolean {
  if (typeof message !== 'object' || message === null) return true;
  const { type, x_seq: sequence, x_ack: acknowledged } = message as Record<string, unknown>;
  if (typeof acknowledged === 'number') link.acknowledge(acknowledged);
  if (!link.takes(typeof sequence === 'number' ? sequence : undefined)) return false;
  return type !== 'x_dramatis.ack';
}

function aboutSession(character: Character, engines: Engines): Record<string, unknown> {
  const { id, name, tagline, languages } = character;
  return {
    character: { id, name, tagline, languages },
    greeting: character.greetings[0] ?? null,
    engines: Object.fromEntries(engines.summary.map((engine) => [engine.stage, engine.name])),
  };
}
