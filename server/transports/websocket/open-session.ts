import type { FastifyBaseLogger } from 'fastify';
import type { Character } from '../../../characters/character.ts';
import type { Config } from '../../config/config.ts';
import type { Engines } from '../../engines/engines.ts';
import { Journal, journalFile, type JournalLine } from '../../journal/journal.ts';
import { ResumableStream, type Transport } from './resumable-stream.ts';
import type { SessionOpus } from './session-opus.ts';
import { hashOf, type ResumableSessions, type ResumableSession } from './resumable-sessions.ts';
import type { RestoredSession } from '../../journal/restore.ts';
import { limits } from '../../protocol/limits.ts';
import type { Memories } from '../../memory/memories.ts';
import type { SessionMemory } from '../../memory/session-memory.ts';
import type { SessionPatch } from '../../protocol/client-events.ts';
import { openBetaConnection } from '../../realtime/beta.ts';
import { openConnection, type ConnectionParts, type Peer, type ServerEvent } from '../../realtime/connection.ts';
import type { CuesTold } from '../../realtime/encode-response.ts';
import { newId } from '../../realtime/new-id.ts';
import { sceneIdOf } from '../../realtime/wire-scene.ts';
import type { WireSession } from '../../realtime/wire-session.ts';
import { systemClock, type Clock } from '../../session/contract/clock.ts';
import type { SessionEvent } from '../../session/contract/events.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import type { VoiceSimilarity, VoiceWatch } from '../../telemetry/voice-watch.ts';
import type { Access } from '../../http/access.ts';
import { describeCharacter, castScenes } from '../../cast/cast-scene.ts';
import { startSessionLimit } from './expiry.ts';
import { createInputRateLimit } from './rate-limit.ts';
import type { LiveSessions, SessionSlot, Caller } from '../../http/live-sessions.ts';

/** Server-wide dependencies of a session, and its caller. */
export interface SessionDeps {
  readonly config: Config;
  readonly engines: Engines;
  readonly characters: ReadonlyMap<string, Character>;
  readonly lobby: ResumableSessions;
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
  readonly binary: boolean;
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
  /** Set if the client asked for Opus in binary frames. Closed when the session ends. */
  readonly opus?: SessionOpus | undefined;
  /** The client speaks the pre-GA dialect. */
  readonly beta?: boolean;
  /** The client's name for the user, for the character's memory. */
  readonly user?: string | undefined;
  /** Transport that carries frames from the first one on. */
  readonly carrier?: Transport;
  /** Resume token of the session. */
  readonly token?: string;
  readonly restored?: RestoredSession;
  /** Initial settings, as if the client had sent them. */
  readonly startWith?: SessionPatch | undefined;
  /** `transcription`: the session only transcribes. */
  readonly intent?: 'transcription' | undefined;
}

/** Opens a session behind a link that may have no transport yet. Registers it for resumption if it has a token. */
export function openSession(opening: SessionOptions, deps: SessionDeps, log: FastifyBaseLogger): ResumableSession {
  const { character, model, token, restored } = opening;
  const { config, engines, lobby, clock = systemClock } = deps;
  const { link, journal } = openLink(opening, config, clock);
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
  const observe = observerOf(opening, deps, link);
  const onFault = faultLog(log);
  const maxSessionMs = config.maxSessionMinutes * 60_000;
  const connection = (opening.beta === true ? openBetaConnection : openConnection)(
    {
      character,
      ...enginesOf(character, engines),
      draftsPerTurn: config.speculativeRepliesPerTurn,
      ...clientOf(opening),
      model,
      about: aboutOpening(opening, deps),
      castScene: castScenes(character, deps, { bound: deps.visitor.secret !== undefined }),
      aheadMs: config.playoutAheadMs,
      keptAudioMs: config.keptAudioSeconds * 1000,
      clock,
      maxSessionMs,
      onFault,
      memory: memoryFor(opening, deps, onFault),
      admit: (message) => admit(link, message),
      ...optional({ journal, restored }),
      observe: (event) => observe(event, connection.id),
      inflow: createInputRateLimit(config, () => clock.now()),
      startWith: opening.startWith,
      intent: opening.intent,
    },
    noted(link, place),
  );
  if (restored === undefined) journal?.write(openingLine(connection.id, opening, deps.visitor));
  log.info({ session: connection.id, character: character.id }, `session ${restored ? 'restored' : 'opened'}`);
  const stayOpen = startSessionLimit(link, {
    clock,
    limitMs: maxSessionMs,
    notice: opening.notice === true,
    end: () => end('session_expired'),
  });
  const seat: ResumableSession = { link, connection, ...optional({ opus: opening.opus, journal }) };
  if (token !== undefined) lobby.seat(token, seat);
  void connection.done.then((reason) => {
    stayOpen();
    place.leave();
    opening.opus?.close();
    log.info({ session: connection.id, reason }, 'session closed');
    link.close(reason === 'client_too_slow' ? reason : ending);
  });
  return seat;
}

function faultLog(log: FastifyBaseLogger): (fault: unknown) => void {
  return (fault) => log.error({ fault: fault instanceof Error ? fault.stack : String(fault) }, 'session fault');
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
  link: ResumableStream,
): (event: SessionEvent, session: string) => void {
  // A scene has no voice of its own.
  const hearVoice =
    character.stage === undefined
      ? voiceWatch?.follow(character, (likeness) => {
          telemetry.noteVoiceSimilarity?.(likeness);
          if (reportsVoiceSimilarity === true) link.send(voiceEvent(likeness));
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

/** Opens the link of a session, and its journal on disk if the session is resumable and the store is on. */
function openLink(
  opening: SessionOptions,
  config: Config,
  clock: Clock,
): { readonly link: ResumableStream; readonly journal: Journal | undefined } {
  const { token, restored } = opening;
  const journal =
    token !== undefined && config.store ? new Journal(journalFile(config.dataDir, hashOf(token))) : undefined;
  const link = new ResumableStream(
    {
      binary: opening.binary,
      ...(opening.opus === undefined ? {} : { opus: opening.opus }),
      resumable: token !== undefined,
      keptBytes: limits.keptBytes,
      newEventId: () => newId('event'),
      now: () => clock.now(),
      beforeSend: (sequence) => journal?.reserve(sequence),
    },
    restored?.sequence,
  );
  if (opening.carrier !== undefined) link.attach(opening.carrier);
  return { link, journal };
}

function openingLine(id: string, opening: SessionOptions, visitor: Access): JournalLine {
  const { character, model, intent, beta } = opening;
  const user = userOf(opening, visitor) ?? undefined;
  return { type: 'open', id, character: character.id, model, intent, beta, user };
}

/**
 * Handles the sequence fields of a client message: drops duplicates, releases acknowledged frames, answers acks.
 * Returns whether the session should process the message.
 */
function admit(link: ResumableStream, message: unknown): boolean {
  if (typeof message !== 'object' || message === null) return true;
  const { type, x_seq: sequence, x_ack: acknowledged } = message as Record<string, unknown>;
  if (typeof acknowledged === 'number') link.acknowledge(acknowledged);
  if (!link.takes(typeof sequence === 'number' ? sequence : undefined)) return false;
  if (type !== 'x_dramatis.ack') return true;
  link.tellReceived();
  return false;
}

/** A link that also reports outgoing events to the session's slot. */
function noted(link: ResumableStream, place: SessionSlot): Peer {
  return {
    send(event) {
      const isRead = link.send(event);
      place.note(event.type);
      return isRead;
    },
    sendAudio: (audio) => link.sendAudio(audio),
    beforeReply: (replyId) => link.beforeReply(replyId),
    probe: (answered) => link.probe(answered),
  };
}

const knownExtensions = ['heard', 'binary', 'opus', 'resume', 'hold', 'nod', 'notice', 'cues', 'thoughts'] as const;

/**
 * The session's own fields in `session.created`: the user, the character, extensions, and the resume token if there is
 * one.
 */
function aboutOpening(
  opening: SessionOptions,
  { engines, lobby, voiceWatch, visitor }: SessionDeps,
): Record<string, unknown> {
  const { character, token } = opening;
  const user = userOf(opening, visitor);
  return {
    ...(user === undefined ? {} : { user }),
    ...sessionExtras(character, engines),
    extensions: [...knownExtensions, ...(voiceWatch === undefined ? [] : ['voice'])],
    ...(token === undefined ? {} : { resume: { token, grace_s: lobby.graceMs / 1000 } }),
  };
}

/** The fields of a session object beyond the OpenAI standard. */
export function sessionExtras(character: Character, engines: Engines): Record<string, unknown> {
  return {
    ...describeCharacter(character),
    engines: Object.fromEntries(engines.summary.map((engine) => [engine.stage, engine.name])),
  };
}
