import type { FastifyBaseLogger } from 'fastify';
import type { Character } from '../../characters/character.ts';
import { castScenes, describeCharacter } from '../cast/cast-scene.ts';
import type { Config } from '../config/config.ts';
import type { Engines } from '../engines/engines.ts';
import type { Access } from '../http/access.ts';
import type { Caller, LiveSessions } from '../http/live-sessions.ts';
import type { Journal, JournalLine } from '../journal/journal.ts';
import type { RestoredSession } from '../journal/restore.ts';
import type { Memories } from '../memory/memories.ts';
import type { SessionMemory } from '../memory/session-memory.ts';
import type { SessionPatch } from '../protocol/client-events.ts';
import { openBetaConnection } from '../realtime/beta.ts';
import { openConnection, type Connection, type ConnectionParts } from '../realtime/connection.ts';
import type { CuesTold } from '../realtime/encode-response.ts';
import { newId } from '../realtime/new-id.ts';
import type { Peer, ServerEvent } from '../realtime/peer.ts';
import { sceneIdOf } from '../realtime/wire-scene.ts';
import type { WireSession } from '../realtime/wire-session.ts';
import { systemClock, type Clock } from '../session/contract/clock.ts';
import type { SessionEvent } from '../session/contract/events.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { VoiceSimilarity, VoiceWatch } from '../telemetry/voice-watch.ts';
import { createInputRateLimit } from '../http/rate-limit.ts';
import { startSessionLimit } from './session-limit.ts';
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
  /** The authenticated caller. */
  readonly visitor: Caller & Access;
}

/** Options of a new session. */
export interface SessionOptions {
  readonly character: Character;
  readonly model: string;
  /** The client stops playback when it is told that a reply is held. */
  readonly holds?: boolean;
  /** The client plays backchannels by the character while its user speaks. */
  readonly nods?: boolean;
  /** The client is warned before the session reaches its time limit. */
  readonly notice?: boolean;
  /** The client gets the voice similarity of the character's replies. */
  readonly reportsVoiceSimilarity?: boolean;
  /** Cues that the client gets besides the words. */
  readonly cues?: CuesTold;
  /** The client speaks the pre-GA dialect. */
  readonly beta?: boolean;
  /** The client's name for the user, for the character's memory. */
  readonly user?: string | undefined;
  /** How the client resumes the session, if it can. */
  readonly resume?: { readonly token: string; readonly grace_s: number } | undefined;
  /** Records the session for another server process to restore. */
  readonly journal?: Journal | undefined;
  readonly restored?: RestoredSession | undefined;
  /** Initial settings, as if the client had sent them. */
  readonly startWith?: SessionPatch | undefined;
  /** `transcription`: the session only transcribes. */
  readonly intent?: 'transcription' | undefined;
}

/** The other end of a session, whatever carries it. */
export interface SessionPeer extends Peer {
  /** Called once, when the session has ended. */
  close(reason: CloseReason): void;
}

/** Opens a session for a peer. */
export function openSession(
  options: SessionOptions,
  peer: SessionPeer,
  deps: SessionDeps,
  log: FastifyBaseLogger,
): Connection {
  const { character, journal, restored } = options;
  const { config, clock = systemClock } = deps;
  let ending: 'ended' | 'server_stopping' | 'session_expired' = 'ended';
  const end = (because: typeof ending): void => {
    ending = because;
    connection.close();
  };
  const place = deps.sessions.enter(deps.visitor, () => {
    // The stored journal is kept, for the next process to restore.
    journal?.close();
    end('server_stopping');
  });
  const observe = observerOf(options, deps, peer);
  const connection = (options.beta === true ? openBetaConnection : openConnection)(
    {
      ...partsOf(options, deps, clock, faultLog(log)),
      observe: (event) => {
        observe(event, connection.id);
        place.note(event);
      },
    },
    peer,
  );
  if (restored === undefined) journal?.write(openingLine(connection.id, options, deps.visitor));
  log.info({ session: connection.id, character: character.id }, `session ${restored ? 'restored' : 'opened'}`);
  const stayOpen = startSessionLimit(peer, {
    clock,
    limitMs: sessionMs(config),
    notice: options.notice === true,
    end: () => end('session_expired'),
  });
  void connection.done.then((reason) => {
    stayOpen();
    place.leave();
    log.info({ session: connection.id, reason }, 'session closed');
    peer.close(reason === 'client_too_slow' ? reason : ending);
  });
  return connection;
}

function partsOf(
  options: SessionOptions,
  deps: SessionDeps,
  clock: Clock,
  onFault: (fault: unknown) => void,
): ConnectionParts {
  const { character, model, journal, restored, startWith, intent } = options;
  const { config, engines, visitor } = deps;
  return {
    character,
    ...enginesOf(character, engines),
    draftsPerTurn: config.speculativeRepliesPerTurn,
    ...clientOf(options),
    model,
    about: aboutSession(options, deps),
    castScene: castScenes(character, deps, { bound: visitor.secret !== undefined }),
    aheadMs: config.playoutAheadMs,
    keptAudioMs: config.keptAudioSeconds * 1000,
    clock,
    maxSessionMs: sessionMs(config),
    onFault,
    memory: memoryFor(options, deps, onFault),
    ...optional({ journal, restored }),
    inflow: createInputRateLimit(config, () => clock.now()),
    startWith,
    intent,
  };
}

function sessionMs({ maxSessionMinutes }: Config): number {
  return maxSessionMinutes * 60_000;
}

function faultLog(log: FastifyBaseLogger): (fault: unknown) => void {
  return (fault) => log.error({ fault: fault instanceof Error ? fault.stack : String(fault) }, 'session failed');
}

/** Returns the memory of a session. A transcription session has none. */
function memoryFor(
  { character, intent }: SessionOptions,
  { memories, visitor }: SessionDeps,
  onFault: (fault: unknown) => void,
): SessionMemory | undefined {
  return intent === 'transcription' ? undefined : memories?.follow(visitor.owner ?? '', character, onFault);
}

/** The user that the character remembers. A client secret determines it; null if the secret names no user. */
export function userOf(
  { user, restored }: Pick<SessionOptions, 'user' | 'restored'>,
  { secret }: Access,
): string | null | undefined {
  if (secret !== undefined) return secret.startWith?.x_dramatis?.user ?? null;
  return restored?.user ?? user;
}

/** Playback features of the client. */
function clientOf({ holds, nods, cues }: SessionOptions): Pick<ConnectionParts, 'holds' | 'nods' | 'cues'> {
  return { holds: holds === true, nods: nods === true, cues };
}

/** Reports session events to telemetry and to the voice watch, which reports the similarity to the client. */
function observerOf(
  { character, reportsVoiceSimilarity, restored }: SessionOptions,
  { telemetry, voiceWatch }: SessionDeps,
  peer: Peer,
): (event: SessionEvent, session: string) => void {
  // A scene has no voice of its own.
  const hearVoice =
    character.stage === undefined
      ? voiceWatch?.follow(character, (likeness) => {
          telemetry.noteVoiceSimilarity?.(likeness);
          if (reportsVoiceSimilarity === true) peer.send(voiceEvent(likeness));
        })
      : undefined;
  let inScene = sceneIdOf(restored?.session) !== null;
  return (event, session) => {
    telemetry.note(event, { session, character: character.id });
    if (event.type === 'updated') inScene = sceneIdOf(event.echo as WireSession) !== null;
    if (!inScene) hearVoice?.(event);
  };
}

function voiceEvent({ replyId, similarity, basis }: VoiceSimilarity): ServerEvent {
  return {
    type: 'x_dramatis.voice',
    event_id: newId('event'),
    response_id: replyId,
    similarity: Math.round(similarity * 1000) / 1000,
    basis,
  };
}

/** Drops the entries that are undefined. */
function optional<Parts extends object>(parts: Parts): { [Name in keyof Parts]?: NonNullable<Parts[Name]> } {
  return Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== undefined)) as ReturnType<
    typeof optional<Parts>
  >;
}

function enginesOf(
  character: Character,
  engines: Engines,
): Pick<ConnectionParts, 'responder' | 'vad' | 'turnDetector' | 'speakerEncoder' | 'recognizerName'> {
  const { vad, turnDetector, speakerEncoder, recognizer } = engines;
  const responder = engines.responderFor(character);
  void responder.prepare?.({ signal: AbortSignal.timeout(60_000) });
  return { responder, vad, turnDetector, speakerEncoder, recognizerName: recognizer.name };
}

function openingLine(id: string, options: SessionOptions, visitor: Access): JournalLine {
  const { character, model, intent, beta } = options;
  const user = userOf(options, visitor) ?? undefined;
  return { type: 'open', id, character: character.id, model, intent, beta, user };
}

const knownExtensions = ['heard', 'binary', 'opus', 'resume', 'hold', 'nod', 'notice', 'cues', 'thoughts'] as const;

/**
 * The session's own fields in `session.created`: the user, the character, extensions, and the resume token if there is
 * one.
 */
function aboutSession(options: SessionOptions, { engines, voiceWatch, visitor }: SessionDeps): Record<string, unknown> {
  const { character, resume } = options;
  const user = userOf(options, visitor);
  return {
    ...(user === undefined ? {} : { user }),
    ...sessionExtras(character, engines),
    extensions: [...knownExtensions, ...(voiceWatch === undefined ? [] : ['voice'])],
    ...(resume === undefined ? {} : { resume }),
  };
}

/** The fields of a session object beyond the OpenAI standard. */
export function sessionExtras(character: Character, engines: Engines): Record<string, unknown> {
  return {
    ...describeCharacter(character),
    engines: Object.fromEntries(engines.summary.map((engine) => [engine.stage, engine.name])),
  };
}
