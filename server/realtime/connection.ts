import type { Character } from '../../characters/character.ts';
import type { SpeakerEncoder } from '../../voices/speaker-encoder.ts';
import type { TurnDetector } from '../../voices/turn-detector.ts';
import type { Vad } from '../../voices/vad.ts';
import type { ClientEvent, SessionPatch } from '../protocol/client-events.ts';
import { limits } from '../protocol/limits.ts';
import type { SessionMemory } from '../memory/session-memory.ts';
import type { Clock } from '../session/contract/clock.ts';
import type { Problem, SessionCommand, SessionEvent } from '../session/contract/events.ts';
import type { Item, MessageItem } from '../session/contract/item.ts';
import type { Responder } from '../session/contract/responder.ts';
import { Session } from '../session/session.ts';
import { decodeEvent, decodeText, type DecodeContext, type Decoded } from './decode.ts';
import type { CuesTold } from './encode-response.ts';
import { createEncoder } from './encode.ts';
import { newId } from './new-id.ts';
import { audioDelta, isAudio, type OutgoingAudio, type WireEvent } from './wire-event.ts';
import {
  castingToStart,
  noScenes,
  playersOf,
  trackCastChange,
  type Casting,
  type CastScene,
  type CastChange,
} from './wire-scene.ts';
import { echoOf, mergeSession, newWireSession, settingsOf, type WireSession } from './wire-session.ts';
import type { Peer, Dialect } from './peer.ts';

/** Everything that one connection needs to hold a conversation. */
export interface ConnectionParts {
  readonly character: Character;
  readonly responder: Responder;
  readonly vad: Vad;
  readonly turnDetector?: TurnDetector;
  /** Embeds voices to tell them apart, if one is loaded. */
  readonly speakerEncoder?: SpeakerEncoder | undefined;
  /** Most speculative replies in one turn; none by default. */
  readonly draftsPerTurn?: number;
  /** The client plays backchannels by the character while the user talks. */
  readonly nods?: boolean;
  /** The client wants to be told when a reply is held, and falls silent then. */
  readonly holds?: boolean;
  /** Stage directions that the client is told of; none by default. */
  readonly cues?: CuesTold | undefined;
  /** The name that the client asked for. */
  readonly model: string;
  readonly recognizerName: string;
  /** Added to the client's `session.created`. */
  readonly about: object;
  readonly aheadMs: number;
  /** Audio kept for `conversation.item.retrieve`, in total. */
  readonly keptAudioMs: number;
  readonly clock: Clock;
  readonly maxSessionMs: number;
  readonly onFault: (fault: unknown) => void;
  /** Takes every event before the client gets it; see `link/journal.ts`. */
  readonly journal?: { note(event: SessionEvent): void; heard(replyId: string, heardMs: number): void };
  /** The character's memories; takes the same events; see `memory/session-memory.ts`. */
  readonly memory?: Pick<SessionMemory, keyof SessionMemory> | undefined;
  /** Takes the same events; see `telemetry/telemetry.ts`. */
  readonly observe?: (event: SessionEvent) => void;
  /** A session to resume, instead of a new one. */
  readonly restored?: {
    readonly id: string;
    readonly session: WireSession | undefined;
    readonly items: readonly Item[];
    /** Ids of those items that date from before the present participants joined. */
    readonly before?: ReadonlySet<string>;
    /** Replies that were open when the server was killed. */
    readonly openReplies: readonly { readonly item: MessageItem | undefined }[];
  };
  /** Casts the scenes that the client may choose; without it there are none. */
  readonly castScene?: CastScene;
  /** OpenAI Realtime (GA) unless given. */
  readonly dialect?: Dialect;
  /** Rate limit on what the client sends; without it there is none. */
  readonly inflow?: InputRateLimit;
  /** `transcription`: the session only transcribes. */
  readonly intent?: 'transcription' | undefined;
  /** Initial settings of a new session, as if the client had asked for them. */
  readonly startWith?: SessionPatch | undefined;
}

/** Rate limit on what a client sends. */
export interface InputRateLimit {
  takeEvent(): RateLimitVerdict;
  takeAudio(ms: number): RateLimitVerdict;
}

/** Verdict of the rate limit: take it, drop it, or drop it and report the error to the client. */
export type RateLimitVerdict = 'take' | 'drop' | Problem;

/** A client of OpenAI Realtime (GA): client events in, server events out, a session between. */
export interface Connection {
  readonly id: string;
  /** Takes an event of OpenAI Realtime (GA). */
  receive(event: ClientEvent): void;
  /** Takes an event as the client sent it: JSON in its dialect, as a string or as bytes in UTF-8. */
  receiveText(text: string | Buffer): void;
  /** Takes the user's audio sent outside of events: mono, at any rate the resampler takes. */
  receiveAudio(samples: Float32Array, sampleRate: number): void;
  /** Notes that the client has disconnected, or is back: meanwhile missing audio is not silence. */
  away(isAway: boolean): void;
  /** Reports the error to the client, in its place among the events. By default: that it sent a binary message. */
  reject(problem?: Problem): void;
  close(): void;
  /** Settles when the session has ended; with the reason, which the close code tells the client. */
  readonly done: Promise<'closed' | 'client_too_slow'>;
}

const binaryNotUnderstood: Problem = {
  code: 'binary_not_supported',
  message: 'Binary frames are not supported. Send audio as base64 in input_audio_buffer.append.',
};

/** Opens the session and sends `session.created` to the client. */
export function openConnection(parts: ConnectionParts, peer: Peer): Connection {
  const { restored, memory } = parts;
  const id = restored?.id ?? newId('sess');
  let wire = restored?.session ?? sessionToStart(parts, id);
  let casting = castingToStart(parts);
  const { castScene = noScenes, nods = false } = parts;
  const staged = trackCastChange(parts, wire);
  const session = openEngine(parts, peer, { casting, wire, staged });
  const openReplies = staged.is ? undefined : (restored?.openReplies.flatMap(({ item }) => item ?? []) ?? []);
  memory?.begin({ id, conversation: session.conversation, user: wire.x_dramatis.user ?? undefined, openReplies });
  const encode = createEncoder(wire, parts.holds, parts.cues);
  const tell = tellerOf(peer, parts.dialect);
  if (restored === undefined) tell({ type: 'session.created', session: echoOf(wire) });

  const delivered = deliver(session, encode, tell, { ...parts, peer, staged });
  const done = Promise.all([delivered, session.run()]).then(([reason]) => reason);
  const { accepts, take } = gateTo(session, parts);
  const receive = (decode: (context: DecodeContext) => Decoded): void => {
    if (!accepts(parts.inflow?.takeEvent())) return;
    const decoded = decode({
      character: casting.character,
      castScene,
      nods,
      sampleRate: casting.responder.sampleRate,
      newItemId: () => newId('item'),
      session: wire,
      find: (itemId) => session.conversation.get(itemId),
      fromClient: parts.dialect?.fromClient,
      admits: (message) => peer.admits?.(message) ?? true,
      onFault: parts.onFault,
    });
    wire = decoded.session;
    casting = decoded.casting ?? casting;
    if (decoded.command !== undefined) take(decoded.command);
  };

  return {
    id,
    done,
    receive: (event) => receive((context) => decodeEvent(event, context)),
    receiveText: (text) => receive((context) => decodeText(text, context)),
    receiveAudio(samples, sampleRate) {
      take({ type: 'audio', samples, sampleRate });
    },
    reject(problem = binaryNotUnderstood) {
      if (accepts(parts.inflow?.takeEvent())) session.send({ type: 'reject', problem });
    },
    away: (isAway) => session.away(isAway),
    close: () => session.close(),
  };
}

interface Beginning {
  readonly casting: Pick<Casting, 'character' | 'responder'>;
  readonly wire: WireSession;
  readonly staged: CastChange;
}

/** Creates the session engine of a connection. */
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
    ...(peer.probe === undefined ? {} : { probeLine: (answered) => peer.probe?.(answered) }),
    settings: settingsOf(wire, casting.character),
    aheadMs: parts.aheadMs,
    keptAudioMs: parts.keptAudioMs,
    ...(restored === undefined ? {} : { items: restored.items, before: restored.before }),
    newId,
    recall: async (history, options) => (staged.is ? [] : ((await memory?.recall(history, options)) ?? [])),
    onFault: parts.onFault,
  });
}

/** Returns a function that sends a peer each complete event, and audio in the form it takes. */
function tellerOf(peer: Peer, dialect: Dialect | undefined): (event: WireEvent | OutgoingAudio) => boolean {
  return (out) => {
    if (isAudio(out) && dialect === undefined && peer.sendAudio !== undefined) return peer.sendAudio(out);
    const event = { event_id: newId('event'), ...(isAudio(out) ? audioDelta(out) : out) };
    return dialect === undefined ? peer.send(event) : dialect.fromServer(event).every((one) => peer.send(one));
  };
}

/** Passes the client's commands to the session, within its limits. */
function gateTo(
  session: Session,
  parts: Pick<ConnectionParts, 'inflow' | 'journal'>,
): { readonly accepts: (verdict?: RateLimitVerdict) => boolean; readonly take: (command: SessionCommand) => void } {
  const accepts = (verdict: RateLimitVerdict = 'take'): boolean => {
    if (typeof verdict === 'object') session.send({ type: 'reject', problem: verdict });
    return verdict === 'take';
  };
  const take = (command: SessionCommand): void => {
    if (command.type === 'heard') parts.journal?.heard(command.replyId, command.heardMs);
    if (command.type !== 'audio') return session.send(command);
    if (session.waitingAudioMs > limits.waitingAudioMs) {
      const message = 'More than ten minutes of audio are queued. Send audio at real-time speed.';
      return session.send({ type: 'reject', problem: { code: 'input_audio_too_fast', message } });
    }
    const durationMs = (command.samples.length / command.sampleRate) * 1000;
    if (accepts(parts.inflow?.takeAudio(durationMs))) session.send(command);
  };
  return { accepts, take };
}

/** Sends all events until the session or the client ends it; a failed send ends the session. */
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
    readonly staged: CastChange;
  },
): Promise<'closed' | 'client_too_slow'> {
  try {
    for await (const event of session.events) {
      if (event.type === 'updated') {
        staged.note(event.echo as WireSession);
        memory?.nameUser((event.echo as WireSession).x_dramatis.user ?? undefined);
      }
      // Before the journal: a resumed session counts what the journal holds as remembered.
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
