import type { FastifyBaseLogger } from 'fastify';
import { openSession, type SessionDeps, type SessionOptions, type SessionPeer } from './open-session.ts';
import type { Transport } from './socket-transport.ts';
import { Journal, type SessionStore } from '../journal/journal.ts';
import { limits } from '../protocol/limits.ts';
import { systemClock } from '../session/contract/clock.ts';
import { hashOf, type ResumableSessions, type ResumableSession } from './resumable-sessions.ts';
import { ResumableStream } from './resumable-stream.ts';
import { bindingOf } from './session-binding.ts';
import type { SessionOpus } from './session-opus.ts';

/** Dependencies of the sessions of WebSockets. */
export interface SocketDeps extends SessionDeps {
  readonly resumableSessions: ResumableSessions;
  /** Journals of the resumable sessions; without it they end with the process. */
  readonly store?: SessionStore | undefined;
}

/** Connection of one client. */
export interface Line {
  readonly extensions: ReadonlySet<string>;
  readonly opus: SessionOpus | undefined;
  readonly token: string | undefined;
  /** Carries frames from the first one on. */
  readonly carrier?: Transport;
  /** Makes the peer of a session whose audio and events are sent separately. */
  readonly peerOf?: ((link: ResumableStream) => SessionPeer) | undefined;
}

/** Opens a session behind a stream of frames. Registers it for resumption if it has a token. */
export function openStream(
  line: Line,
  options: Omit<SessionOptions, 'journal' | 'resume'>,
  deps: SocketDeps,
  log: FastifyBaseLogger,
): ResumableSession {
  const { extensions, opus, token, carrier, peerOf } = line;
  const { resumableSessions, clock = systemClock } = deps;
  const journal = token === undefined ? undefined : journalOf(token, deps, log);
  const link = new ResumableStream(
    {
      binary: opus !== undefined || extensions.has('binary'),
      opus,
      resumable: token !== undefined,
      keptBytes: limits.keptBytes,
      clock,
      beforeSend: journal?.reserve.bind(journal),
      keepEvent: journal?.log.isShared === true ? journal.told.bind(journal) : undefined,
      log: journal?.log,
    },
    options.restored,
  );
  if (carrier !== undefined) link.attach(carrier);
  const resume = token === undefined ? undefined : { token, grace_s: resumableSessions.graceMs / 1000 };
  const peer = peerOf?.(link) ?? link;
  const connection = openSession({ ...options, journal, resume }, peer, deps, log);
  const { character, medium, restored } = options;
  const binding = bindingOf(deps.caller, { character, medium, user: restored?.user ?? options.user });
  const session: ResumableSession = { link, connection, peer, opus, journal, binding };
  if (token !== undefined) resumableSessions.add(token, session);
  void connection.done.then(() => opus?.close());
  return session;
}

/** Opens the journal of a session. If another process takes the session over, the session ends here. */
function journalOf(token: string, deps: SocketDeps, log: FastifyBaseLogger): Journal | undefined {
  const { store, resumableSessions } = deps;
  const onFault = (fault: unknown): void => log.error({ fault: String(fault) }, 'the journal of a session failed');
  const onTaken = (): void => resumableSessions.abandon(token);
  return store === undefined ? undefined : new Journal(store.open(hashOf(token), { onFault, onTaken }));
}
