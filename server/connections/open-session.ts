import type { FastifyBaseLogger } from 'fastify';
import type { ContentJudge } from '../../agents/guardrails/content-judge.ts';
import type { Character } from '../../characters/character.ts';
import { castScenes, describeCharacter } from '../cast/cast-scene.ts';
import type { Config } from '../config/config.ts';
import type { Engines } from '../engines/engines.ts';
import type { Access } from '../http/access.ts';
import type { Caller, LiveSessions } from '../http/live-sessions.ts';
import type { Journal } from '../journal/journal.ts';
import type { RestoredSession } from '../journal/restore.ts';
import type { Memories } from '../memory/memories.ts';
import type { SessionPatch } from '../protocol/client-events.ts';
import type { Spending } from '../limits/spending.ts';
import { soundKept } from '../responders/kept-sound.ts';
import { lipSynced } from '../responders/lip-synced.ts';
import { openConnection, type Connection, type ConnectionParts } from '../realtime/connection.ts';
import { newId } from '../realtime/encode.ts';
import type { Client, Peer } from '../realtime/peer.ts';
import type { Casting } from '../realtime/wire-scene.ts';
import { systemClock, type Clock } from '../session/contract/clock.ts';
import { errorObject } from '../session/contract/errors.ts';
import type { Problem } from '../session/contract/events.ts';
import type { SessionEnding, Telemetry } from '../telemetry/telemetry.ts';
import type { VoiceWatch } from '../telemetry/voice-watch.ts';
import { createInputRateLimit } from '../http/rate-limit.ts';
import { listenersOf, userOf } from './session-listeners.ts';
import { governed } from './governed.ts';
import type { CloseReason } from './socket-transport.ts';

/** Server-wide dependencies of a session, and its caller. */
export interface SessionDeps {
  readonly config: Config;
  readonly engines: Engines;
  readonly characters: ReadonlyMap<string, Character>;
  readonly sessions: LiveSessions;
  /** System clock unless given. */
  readonly clock?: Clock;
  readonly telemetry: Telemetry;
  readonly voiceWatch?: VoiceWatch | undefined;
  readonly memories?: Memories | undefined;
  /** Checks the conversation if there is a rating. */
  readonly judge?: ContentJudge | undefined;
  /** Spending of client secrets with limits. */
  readonly spending?: Spending | undefined;
  readonly caller: Caller & Access;
}

export interface SessionOptions {
  readonly character: Character;
  /** The name that the client asked for. */
  readonly model: string;
  readonly client: Client;
  /** The client's name for the user, for the character's memory. */
  readonly user?: string | undefined;
  /** Resume token and key of the session, if the client can resume it. */
  readonly resume?: { readonly token: string; readonly grace_s: number } | undefined;
  /** Records the session for another server process to restore. */
  readonly journal?: Journal | undefined;
  readonly restored?: RestoredSession | undefined;
  /** Initial settings, as if the client had sent them. */
  readonly startWith?: SessionPatch | undefined;
  /** `transcription`: the session only transcribes. */
  readonly intent?: 'transcription' | undefined;
  /** What carries the session; a WebSocket unless given. */
  readonly medium?: 'call' | 'phone' | undefined;
}

/** The other end of a session, over any transport. */
export interface SessionPeer extends Peer {
  /** Called before the session leaves for another process, while it still listens. */
  leaving?(): void;
  /** Called once, when the session has ended. */
  close(reason: CloseReason): void;
}

export function openSession(
  options: SessionOptions,
  peer: SessionPeer,
  deps: SessionDeps,
  log: FastifyBaseLogger,
): Connection {
  const { character, client, journal, restored } = options;
  const { config, engines, clock = systemClock } = deps;
  const { vad, turnDetector, speakerEncoder, recognizer } = engines;
  let ending: Exclude<SessionEnding, 'client_too_slow'> = 'ended';
  const end = (because: typeof ending): void => {
    ending = because;
    connection.close();
  };
  let left: Promise<void> | undefined;
  const place = deps.sessions.enter(deps.caller, () => {
    if (left === undefined) peer.leaving?.();
    // The stored journal is kept, for the next process to restore.
    left ??= journal?.close();
    end(journal?.log.isShared === true ? 'moved' : 'server_stopping');
  });
  const onFault = (fault: unknown): void =>
    log.error({ fault: fault instanceof Error ? fault.stack : String(fault) }, 'session failed');
  const sessionMs = config.maxSessionMinutes * 60_000;
  const cast = castOf(options, deps, peer);
  // The greetings are synthesized while the client reads the session, and only as long as it is connected.
  const life = new AbortController();
  void cast.casting.responder.prepare?.({ signal: life.signal });
  const connection = openConnection(
    {
      ...options,
      ...cast,
      engines: { vad, turnDetector, speakerEncoder },
      recognizer: recognizer.name,
      reports: config.reports,
      bounds: {
        speculativeRepliesPerTurn: config.speculativeRepliesPerTurn,
        aheadMs: config.playoutAheadMs,
        keptAudioMs: config.keptAudioSeconds * 1000,
        sessionMs,
      },
      ports: { clock, newId, onFault },
      inflow: createInputRateLimit(config, clock.now.bind(clock)),
      ...listenersOf(options, deps, peer, onFault, place),
    },
    peer,
  );
  log.info({ session: connection.id, character: character.id }, `session ${restored ? 'restored' : 'opened'}`);
  const limit = { clock, limitMs: sessionMs, notice: client.notice === true, end: () => end('session_expired') };
  const stayOpen = startSessionLimit(peer, limit);
  void connection.done.then(async (reason) => {
    stayOpen();
    life.abort();
    // The client leaves once another node can have its session: it would have to wait there.
    if (left !== undefined) await left;
    place.leave();
    log.info({ session: connection.id, reason }, 'session closed');
    const how = reason === 'client_too_slow' ? reason : ending;
    deps.telemetry.noteEnd?.(how);
    peer.close(how);
  });
  return connection;
}

/** The participants at first, and those that the client may choose instead. */
function castOf(
  options: SessionOptions,
  deps: SessionDeps,
  peer: Peer,
): Pick<ConnectionParts, 'casting' | 'castScene' | 'bindsUser'> {
  const { character, client } = options;
  const heard = soundKept(client.mouth === undefined ? deps.engines : lipSynced(deps.engines), options.journal);
  const engines = governed(heard, options, deps, peer);
  const responder = engines.responderFor(character);
  const casting: Casting = { character, responder, about: aboutSession(options, deps) };
  const { secret } = deps.caller;
  const allowed = secret && [secret.character.id, ...(secret.terms?.characters ?? [])];
  const castScene = castScenes(character, { ...deps, engines }, allowed);
  return { casting, castScene, bindsUser: secret !== undefined };
}

const knownExtensions =
  'heard binary opus resume hold nod notice cues thoughts visemes phones relations sections'.split(' ');

/** Our own fields in `session.created`: the user, the character, extensions, and the resume token if any. */
function aboutSession(options: SessionOptions, { engines, voiceWatch, caller }: SessionDeps): Record<string, unknown> {
  const { character, resume } = options;
  const user = userOf(options, caller);
  return {
    ...(user === undefined ? {} : { user }),
    ...sessionExtras(character, engines),
    extensions: [...knownExtensions, ...(voiceWatch === undefined ? [] : ['voice'])],
    ...(resume === undefined ? {} : { resume }),
  };
}

/** The fields of a session object beyond the OpenAI standard. */
export function sessionExtras(character: Character, { summary }: Engines): Record<string, unknown> {
  return {
    ...describeCharacter(character),
    engines: Object.fromEntries(summary.map(({ stage, name }) => [stage, name])),
  };
}

/** Time before the end of a session at which the client is warned. For a short session, half of its length. */
const noticeMs = 60_000;

const expired: Problem = {
  code: 'session_expired',
  message: 'The session reached its time limit. Open a new one.',
};

interface TimeLimit {
  readonly clock: Clock;
  readonly limitMs: number;
  /** The client is warned before the end. */
  readonly notice: boolean;
  readonly end: () => void;
}

/** Ends a session at its time limit and informs the client. Returns a function that cancels it. */
function startSessionLimit(peer: Pick<Peer, 'send'>, { clock, limitMs, notice, end }: TimeLimit): () => void {
  const leftMs = Math.min(noticeMs, limitMs / 2);
  const announce = (): void => {
    const event = {
      type: 'x_dramatis.session_expiring' as const,
      expires_in_s: Math.round(leftMs / 1000),
      expires_at: Math.floor((Date.now() + leftMs) / 1000),
    };
    peer.send({ event_id: newId('event'), ...event });
  };
  const expire = (): void => {
    peer.send({ type: 'error', event_id: newId('event'), error: errorObject(expired) });
    end();
  };
  const stops = [...(notice ? [clock.after(limitMs - leftMs, announce)] : []), clock.after(limitMs, expire)];
  return () => stops.forEach((stop) => stop());
}
