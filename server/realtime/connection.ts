import type { Character } from '../../characters/character.ts';
import type { SpeakerEncoder } from '../../voices/speaker-encoder.ts';
import type { TurnDetector } from '../../voices/turn-detector.ts';
import type { Vad } from '../../voices/vad.ts';
import type { SessionPatch } from '../protocol/client-events.ts';
import { limits } from '../protocol/limits.ts';
import type { SessionMemory } from '../memory/session-memory.ts';
import type { Clock } from '../session/contract/clock.ts';
import type { Problem, SessionCommand, SessionEvent } from '../session/contract/events.ts';
import type { Item, MessageItem } from '../session/history/conversation.ts';
import type { Responder } from '../responders/responder.ts';
import { Session } from '../session/session.ts';
import type { ProbeLine } from '../session/input/silence.ts';
import { decode } from './decode.ts';
import type { CuesTold } from './encode-response.ts';
import { createEncoder } from './encode.ts';
import { newId } from './new-id.ts';
import { audioDelta, isAudio, type OutgoingAudio, type WireEvent } from './wire-event.ts';
import {
  castingToStart,
  noScenes,
  playersOf,
  stagedBy,
  type Casting,
  type CastScene,
  type Staged,
} from './wire-scene.ts';
import { echoOf, mergeSession, newWireSession, settingsOf, type WireSession } from './wire-session.ts';

/** The other end of a connection, whatever carries it. */
export interface Peer {
  /** Sends one server event. Returns false when the client has stopped reading and must be let go. */
  send(event: ServerEvent): boolean;
  /** Where given, takes the sound of replies, which then does not go out as `response.output_audio.delta`. */
  sendAudio?(audio: OutgoingAudio): boolean;
  /** Where given, is waited for before the first event of a reply. */
  beforeReply?(replyId: string): Promise<void>;
  /** Asks for a sign of life, which comes after all the client has sent; absent where nothing can be stuck on its way. */
  readonly probe?: ProbeLine;
}

/** A server event of OpenAI Realtime (GA), complete. */
export type ServerEvent = WireEvent & { readonly event_id: string };

/** What one connection needs to hold a conversation. */
export interface ConnectionParts {
  readonly character: Character;
  readonly responder: Responder;
  readonly vad: Vad;
  readonly turnDetector?: TurnDetector;
  /** Tells voices apart, where one is loaded. */
  readonly speakerEncoder?: SpeakerEncoder | undefined;
  /** Answers that may be prepared in one turn before it is over; none by default. */
  readonly draftsPerTurn?: number;
  /** The client plays what comes while its user talks. */
  readonly nods?: boolean;
  /** The client wants to know when a reply is held, and falls silent then. */
  readonly holds?: boolean;
  /** What beside the words the client is told of; nothing by default. */
  readonly cues?: CuesTold | undefined;
  /** The name the client asked for. */
  readonly model: string;
  readonly recognizerName: string;
  /** Told to the client in `session.created`. */
  readonly about: object;
  readonly aheadMs: number;
  /** Sound kept for `conversation.item.retrieve`, in all. */
  readonly keptAudioMs: number;
  readonly clock: Clock;
  readonly maxSessionMs: number;
  readonly onFault: (fault: unknown) => void;
  /** Told of everything the client is about to be told; see `link/journal.ts`. */
  readonly journal?: { note(event: SessionEvent): void; heard(replyId: string, heardMs: number): void };
  /** What the character remembers of the user, told of the same; see `memory/session-memory.ts`. */
  readonly memory?: Pick<SessionMemory, keyof SessionMemory> | undefined;
  /** Told of the same; see `telemetry/telemetry.ts`. */
  readonly observe?: (event: SessionEvent) => void;
  /** A session to go on with, instead of a new one. */
  readonly restored?: {
    readonly id: string;
    readonly session: WireSession | undefined;
    readonly items: readonly Item[];
    /** Of these, the ones from before who plays now came. */
    readonly before?: ReadonlySet<string>;
    /** Its server did not live to end them. */
    readonly openReplies: readonly { readonly item: MessageItem | undefined }[];
  };
  /** Casts the scenes that the client may choose; without it there are none. */
  readonly castScene?: CastScene;
  /** Asked about every message before it is taken: whether it is new and meant for the session. All are by default. */
  readonly admit?: (message: unknown) => boolean;
  /** Bounds how fast the client may send; without it, nothing does. */
  readonly inflow?: Inflow;
  /** `transcription`: the session only listens. */
  readonly intent?: 'transcription' | undefined;
  /** What a new session starts with, as if the client had asked for it. */
  readonly startWith?: SessionPatch | undefined;
}

/** Counts what a client sends, and says what is to become of it. */
export interface Inflow {
  takeEvent(): Verdict;
  takeAudio(ms: number): Verdict;
}

/** Take it, drop it, or drop it and tell the client why. */
export type Verdict = 'take' | 'drop' | Problem;

/** One client speaking OpenAI Realtime (GA): client events in, server events out, a session between them. */
export interface Connection {
  readonly id: string;
  /** A text frame, as a string or as its bytes in UTF-8. */
  receive(frame: string | Buffer): void;
  /** Sound of the user that did not come in an event: mono, at any rate the resampler takes. */
  receiveAudio(samples: Float32Array, sampleRate: number): void;
  /** The client has dropped and may come back: missing sound does not count as silence meanwhile. */
  away(isAway: boolean): void;
  /** A frame that is no text, and is not taken; `problem` says why, where it is not that nobody expects one. */
  receiveBinary(problem?: Problem): void;
  close(): void;
  /** Settles when the session has ended; says why if the client is to be told by the close code. */
  readonly done: Promise<'closed' | 'client_too_slow'>;
}

const binaryNotUnderstood: Problem = {
  code: 'binary_not_supported',
  message: 'Binary frames are not understood. Send audio as base64 in input_audio_buffer.append.',
};

/** Opens the session and greets the client with `session.created`. */
export function openConnection(parts: ConnectionParts, peer: Peer): Connection {
  const { restored, memory } = parts;
  const id = restored?.id ?? newId('sess');
  let wire = restored?.session ?? sessionToStart(parts, id);
  let casting = castingToStart(parts);
  const { castScene = noScenes, nods = false } = parts;
  const staged = stagedBy(parts, wire);
  const session = openEngine(parts, peer, { casting, wire, staged });
  const openReplies = staged.is ? undefined : (restored?.openReplies.flatMap(({ item }) => item ?? []) ?? []);
  memory?.begin({ id, conversation: session.conversation, user: wire.x_dramatis.user ?? undefined, openReplies });
  const encode = createEncoder(wire, parts.holds, parts.cues);
  const tell = tellerOf(peer);
  if (restored === undefined) tell({ type: 'session.created', session: echoOf(wire) });

  const delivered = deliver(session, encode, tell, { ...parts, peer, staged });
  const done = Promise.all([delivered, session.run()]).then(([reason]) => reason);
  const { accepts, take } = gateTo(session, parts);

  return {
    id,
    done,
    receive(frame) {
      if (!accepts(parts.inflow?.takeEvent())) return;
      const context = {
        character: casting.character,
        castScene,
        nods,
        sampleRate: casting.responder.sampleRate,
        newItemId: () => newId('item'),
        session: wire,
        find: (itemId: string) => session.conversation.get(itemId),
        admit: parts.admit ?? (() => true),
        onFault: parts.onFault,
      };
      const decoded = decode(frame, context);
      wire = decoded.session;
      casting = decoded.casting ?? casting;
      if (decoded.command !== undefined) take(decoded.command);
    },
    receiveAudio(samples, sampleRate) {
      take({ type: 'audio', samples, sampleRate });
    },
    receiveBinary(problem = binaryNotUnderstood) {
      if (accepts(parts.inflow?.takeEvent())) session.send({ type: 'reject', problem });
    },
    away: (isAway) => session.away(isAway),
    close: () => session.close(),
  };
}

interface Beginning {
  readonly casting: Pick<Casting, 'character' | 'responder'>;
  readonly wire: WireSession;
  readonly staged: Staged;
}

/** The session engine of a connection. */
function openEngine(parts: ConnectionParts, peer: Peer, { casting, wire, staged }: Beginning): Session {
  const { restored, memory, nods = false } = parts;
  return new Session({
    ...playersOf(casting, nods),
    vad: parts.vad,
    ...(parts.turnDetector === undefined ? {} : { turnDetector: parts.turnDetector }),
    ...(parts.speakerEncoder === undefined ? {} : { speakerEncoder: parts.speakerEncoder }),
    draftsPerTurn: parts.draftsPerTurn ?? 0,
    stopsAtOnce: parts.holds === true,
    clock: parts.clock,
    ...(peer.probe === undefined ? {} : { probeLine: peer.probe }),
    settings: settingsOf(wire, casting.character),
    aheadMs: parts.aheadMs,
    keptAudioMs: parts.keptAudioMs,
    ...(restored === undefined ? {} : { items: restored.items, before: restored.before }),
    newId,
    recall: async (history, options) => (staged.is ? [] : ((await memory?.recall(history, options)) ?? [])),
    onFault: parts.onFault,
  });
}

/** Hands a peer each event complete, and sound in the form it takes. */
function tellerOf(peer: Peer): (event: WireEvent | OutgoingAudio) => boolean {
  return (event) => {
    if (!isAudio(event)) return peer.send({ event_id: newId('event'), ...event });
    if (peer.sendAudio !== undefined) return peer.sendAudio(event);
    return peer.send({ event_id: newId('event'), ...audioDelta(event) });
  };
}

/** Lets what the client sends through to the session, as far as it keeps to its bounds. */
function gateTo(
  session: Session,
  parts: Pick<ConnectionParts, 'inflow' | 'journal'>,
): { readonly accepts: (verdict?: Verdict) => boolean; readonly take: (command: SessionCommand) => void } {
  const accepts = (verdict: Verdict = 'take'): boolean => {
    if (typeof verdict === 'object') session.send({ type: 'reject', problem: verdict });
    return verdict === 'take';
  };
  const take = (command: SessionCommand): void => {
    if (command.type === 'heard') parts.journal?.heard(command.replyId, command.heardMs);
    if (command.type !== 'audio') return session.send(command);
    if (session.waitingAudioMs > limits.waitingAudioMs) {
      const message = 'More than ten minutes of audio are waiting to be heard. Send audio at the pace of speech.';
      return session.send({ type: 'reject', problem: { code: 'input_audio_too_fast', message } });
    }
    const durationMs = (command.samples.length / command.sampleRate) * 1000;
    if (accepts(parts.inflow?.takeAudio(durationMs))) session.send(command);
  };
  return { accepts, take };
}

/** Tells the client everything, until the session ends or the client stops reading. What cannot be told ends the session. */
async function deliver(
  session: Session,
  encode: ReturnType<typeof createEncoder>,
  tell: (event: WireEvent | OutgoingAudio) => boolean,
  {
    journal,
    memory,
    observe,
    onFault,
    peer,
    staged,
  }: Pick<ConnectionParts, 'journal' | 'memory' | 'observe' | 'onFault'> & {
    readonly peer: Peer;
    readonly staged: Staged;
  },
): Promise<'closed' | 'client_too_slow'> {
  try {
    for await (const event of session.events) {
      if (event.type === 'updated') {
        staged.note(event.echo as WireSession);
        memory?.nameUser((event.echo as WireSession).x_dramatis.user ?? undefined);
      }
      // Before the journal: a session that is taken up again counts what that holds as remembered.
      const kept = memory?.note(event, staged.is);
      if (kept !== undefined) await kept;
      journal?.note(event);
      if (event.type === 'reply-started') await peer.beforeReply?.(event.replyId);
      observe?.(event);
      for (const wireEvent of encode(event)) if (!tell(wireEvent)) return 'client_too_slow';
    }
  } catch (fault) {
    onFault(fault);
  } finally {
    session.close();
    await memory?.close();
  }
  return 'closed';
}

function sessionToStart(parts: ConnectionParts, id: string): WireSession {
  const fresh = newWireSession(parts.character, {
    id,
    model: parts.model,
    expiresAt: Math.floor((Date.now() + parts.maxSessionMs) / 1000),
    recognizer: parts.recognizerName,
    about: parts.about,
    type: parts.intent ?? parts.startWith?.type,
  });
  const wanted = parts.startWith === undefined ? fresh : mergeSession(fresh, parts.startWith, parts.character);
  return 'code' in wanted ? fresh : wanted;
}
