import type { FastifyBaseLogger } from 'fastify';
import { g711SampleRate } from '../../../voices/dsp/g711.ts';
import { resolveCharacter, resolveUser } from '../../connections/caller-choice.ts';
import type { SessionPeer } from '../../connections/open-session.ts';
import type { CloseReason, Transport } from '../../connections/socket-transport.ts';
import type { Refusal } from '../../http/problem.ts';
import type { SessionPatch } from '../../protocol/client-events.ts';
import type { ServerEvent } from '../../protocol/server-events.ts';
import type { Connection } from '../../realtime/connection.ts';
import type { OutgoingAudio } from '../../realtime/encode.ts';
import type { Problem } from '../../session/contract/events.ts';
import { openStream, type SocketDeps } from '../../connections/open-stream.ts';
import { hashOf, type ResumableSession } from '../../connections/resumable-sessions.ts';
import { restoreSession } from '../../connections/restored-session.ts';
import { resumeProblem } from '../../connections/session-binding.ts';
import { MediaStream, telephoneSession, type TwilioLine } from './media-stream.ts';
import type { TwilioMessage } from './messages.ts';

/** A session over the phone, as one of Twilio's streams sees it. */
export interface PhoneTalk {
  receive(message: TwilioMessage): void;
  /** The caller has hung up. */
  hangUp(): void;
  /** The stream has ended in another way: the session waits for the next one, if it can be resumed. */
  lose(): void;
}

/** Calls that phones need if the server is one of several nodes. */
export interface PhoneNode {
  readonly takeOver: (token: string) => Promise<boolean | Refusal>;
  readonly drop: (token: string) => void;
}

interface Arrival {
  readonly line: TwilioLine;
  readonly carrier: Transport;
  /** Parameters of the stream. */
  readonly wanted: Readonly<Record<'model' | 'user' | 'resume', string | undefined>>;
}

type PhoneProblem = Problem & { readonly mayRetry?: true };

/** Passes the speech of a session on to the phone; its events are not sent to anyone. */
class PhonePeer implements SessionPeer {
  readonly stream: MediaStream;
  readonly #link: ResumableSession['link'];
  #connection: Connection | undefined;

  constructor(line: TwilioLine, link: ResumableSession['link']) {
    this.#link = link;
    this.stream = new MediaStream(line, {
      ask: (event) => this.#connection?.receive(event),
      hear: (samples) => this.#connection?.receiveAudio(samples, g711SampleRate),
    });
  }

  connect(connection: Connection): void {
    this.#connection = connection;
  }

  send(event: ServerEvent): boolean {
    return this.stream.send(event);
  }

  sendAudio(audio: OutgoingAudio): boolean {
    return this.stream.sendAudio(audio);
  }

  close(reason: CloseReason): void {
    this.#link.close(reason);
  }
}

/**
 * Opens the session of a phone call. With a token (`resume`) that names a session whose stream has ended, or whose server
 * has gone, continues that session.
 */
export async function openPhoneTalk(
  arrival: Arrival,
  deps: SocketDeps,
  node: PhoneNode | undefined,
  log: FastifyBaseLogger,
): Promise<PhoneTalk | PhoneProblem> {
  const { line, wanted } = arrival;
  if (wanted.resume !== undefined && !/^[\w-]{24,128}$/.test(wanted.resume)) return badToken;
  // An account cannot name the sessions of another one.
  const token = wanted.resume === undefined ? undefined : `phone_${deps.caller.owner ?? ''}_${wanted.resume}`;
  const found = token === undefined ? undefined : await comeBack(token, arrival, { deps, node, log });
  if (found !== undefined && 'code' in found) return found;
  const session = found ?? begin(token, arrival, deps, log);
  if ('code' in session) return session;
  const { connection, link, peer } = session;
  const stream = peer instanceof PhonePeer ? peer.stream : undefined;
  if (found === undefined) stream?.greet();
  return {
    receive: (message) => stream?.receive(message),
    hangUp: () => connection.close(),
    lose() {
      stream?.detach(line);
      link.detach(arrival.carrier);
      if (!link.attached && (token === undefined || !deps.resumableSessions.leave(token))) connection.close();
    },
  };
}

/** Finds the session of a token, here or at another node; undefined if there is none. */
async function comeBack(
  token: string,
  arrival: Arrival,
  { deps, node, log }: { deps: SocketDeps; node: PhoneNode | undefined; log: FastifyBaseLogger },
): Promise<ResumableSession | PhoneProblem | undefined> {
  const { line, carrier, wanted } = arrival;
  const { resumableSessions, caller, store } = deps;
  const found = resumableSessions.find(token);
  const problem = found && resumeProblem(found.binding, caller, { user: wanted.user, medium: 'phone' });
  if (problem !== undefined) return problem;
  const session = resumableSessions.claim(token);
  if (session !== undefined) {
    session.link.attach(carrier);
    if (session.peer instanceof PhonePeer) session.peer.stream.attach(line);
    session.connection.away(false);
    return session;
  }
  const isThere = (await node?.takeOver(token)) ?? store?.has(hashOf(token)) === true;
  if (typeof isThere === 'object') return { ...isThere.problem, mayRetry: true };
  if (!isThere) return undefined;
  const restored = restoreSession(token, {
    request: { x: 'hold', ...(wanted.user === undefined ? {} : { user: wanted.user }) },
    call: { medium: 'phone', peerOf: (link) => new PhonePeer(line, link) },
    deps,
    log,
  });
  if ('problem' in restored) {
    node?.drop(token);
    return { ...restored.problem, ...(restored.mayRetry === true ? { mayRetry: true } : {}) };
  }
  restored.session.link.attach(carrier);
  return connected(restored.session);
}

function begin(
  token: string | undefined,
  { line, carrier, wanted }: Arrival,
  deps: SocketDeps,
  log: FastifyBaseLogger,
): ResumableSession | PhoneProblem {
  const { caller } = deps;
  const refusal = deps.sessions.refusalFor(caller);
  if (refusal !== undefined) return { ...refusal.problem, mayRetry: true };
  const character = resolveCharacter(wanted.model, caller.secret, deps);
  if ('code' in character) return character;
  const user = resolveUser(wanted.user, caller.secret);
  if (typeof user === 'object') return user;
  const peerOf = (link: ResumableSession['link']): PhonePeer => new PhonePeer(line, link);
  const how = { extensions: new Set<string>(), opus: undefined, token, carrier, peerOf };
  const client = { holds: true };
  const startWith = startOf(caller.secret?.startWith);
  const model = wanted.model ?? character.id;
  return connected(openStream(how, { character, model, client, user, startWith, medium: 'phone' }, deps, log));
}

function connected(session: ResumableSession): ResumableSession {
  if (session.peer instanceof PhonePeer) session.peer.connect(session.connection);
  return session;
}

/** The settings of a client secret, with the telephone's audio format. */
function startOf(wanted: SessionPatch | undefined): SessionPatch {
  return {
    ...wanted,
    audio: {
      input: { ...wanted?.audio?.input, ...telephoneSession.audio?.input },
      output: { ...wanted?.audio?.output, ...telephoneSession.audio?.output },
    },
  };
}

const badToken: Problem = {
  code: 'invalid_value',
  message: 'The parameter `resume` is a secret of your own, of 24 to 128 letters, digits, “-” and “_”.',
  param: 'resume',
};
