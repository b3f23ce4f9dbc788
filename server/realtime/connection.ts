import type { WireEvent } from '../protocol/server-events.ts';
import { limits } from '../protocol/limits.ts';
import type { ClientEvent, SessionPatch } from '../protocol/client-events.ts';
import type {
  Problem,
  ReplyRequest,
  SessionCommand,
  SessionEvent,
  SessionListener,
} from '../session/contract/events.ts';
import type { Item } from '../session/contract/item.ts';
import type { Bounds, Ports } from '../session/history/context.ts';
import type { Cast } from '../session/contract/responder.ts';
import type { Conversation } from '../session/history/conversation.ts';
import { sharedProbe } from '../session/input/silence.ts';
import { Session, type SessionEngines, type SessionParts } from '../session/session.ts';
import { betaStart, toBeta } from './beta.ts';
import { decodeEvent, decodeText, type DecodeContext, type Decoded } from './decode.ts';
import { conversationEvents, type KnownSession, newId, audioDelta, isAudio, type OutgoingAudio } from './encode.ts';
import { responseEvents, type EncodedSession, type OpenResponse } from './encode-response.ts';
import type { Client, InputRateLimit, Peer, RateLimitVerdict } from './peer.ts';
import { soundBy } from './wire-players.ts';
import { castingToStart, noScenes, castOf, type CastScene, type Casting } from './wire-scene.ts';
import { echoOf, mergeSession, newWireSession, sessionIn, settingsOf, type WireSession } from './wire-session.ts';

/** Everything that one connection needs to hold a conversation. */
export interface ConnectionParts {
  /** The participants at first; `about` is added to the client's `session.created`. */
  readonly casting: Casting;
  /** Casts the scenes that the client may choose; without it there are none. */
  readonly castScene?: CastScene;
  readonly engines: SessionEngines;
  readonly client: Client;
  readonly bounds: Bounds & { readonly sessionMs: number };
  readonly ports: Ports;
  /** The names that are sent to the client: the one it asked for, and the recognizer's. */
  readonly model: string;
  readonly recognizer: string;
  /** `transcription`: the session only transcribes. */
  readonly intent?: 'transcription' | undefined;
  /** Initial settings of a new session, as if the client had asked for them. */
  readonly startWith?: SessionPatch | undefined;
  /** A session to resume, instead of a new one. */
  readonly restored?: RestoredState | undefined;
  readonly recall?: SessionParts['recall'];
  /** What the client reports is kept. */
  readonly reports?: boolean | undefined;
  /** The client has a secret, which is for one user. */
  readonly bindsUser?: boolean | undefined;
  /** Makes the listeners that take each event before the client does, in order. */
  readonly listen?: (opened: OpenedSession) => readonly SessionListener[];
  /** Rate limit on what the client sends; without it there is none. */
  readonly inflow?: InputRateLimit;
}

/** The state of a session that another server process left behind. */
interface RestoredState extends Pick<SessionParts, 'feelings' | 'relations' | 'relationsWith' | 'world' | 'story'> {
  readonly id: string;
  readonly session: WireSession | undefined;
  readonly items: readonly Item[];
  /** Ids of those items that date from before the present participants joined. */
  readonly beforeScene: ReadonlySet<string>;
  /** The reply that the restart has cut, to be made again or to go on. */
  readonly reply?: ReplyRequest | undefined;
}

export interface OpenedSession {
  readonly id: string;
  readonly conversation: Conversation;
  readonly session: WireSession;
  /** See `Session.restore`. */
  readonly restore: Session['restore'];
}

/** A client of OpenAI Realtime (GA): client events in, server events out, a session between. */
export interface Connection {
  readonly id: string;
  /** Takes an event of OpenAI Realtime (GA). */
  receive(event: ClientEvent): void;
  /** Takes an event as the client sent it: JSON in its dialect, as a string or as bytes in UTF-8. */
  receiveText(text: string | Buffer): void;
  /** Takes the user's audio sent outside of events: mono, at any rate the resampler takes; with its number and player, if any. */
  receiveAudio(samples: Float32Array, sampleRate: number, sequence?: number, player?: number): void;
  /** Notes that the client has disconnected, or is back: meanwhile missing audio is not silence. */
  away(isAway: boolean): void;
  /** Reports the error to the client, in its place among the events. By default: that it sent a binary message. */
  reject(problem?: Problem): void;
  close(): void;
  /** Settles when the session has ended; with the reason, which the client gets as close code. */
  readonly done: Promise<'closed' | 'client_too_slow'>;
}

const binaryNotUnderstood: Problem = {
  code: 'binary_not_supported',
  message: 'Binary frames are not supported. Send audio as base64 in input_audio_buffer.append.',
};

/** Opens the session and sends `session.created` to the client. */
export function openConnection(parts: ConnectionParts, peer: Peer): Connection {
  const { client, restored, inflow, castScene = noScenes } = parts;
  const id = restored?.id ?? newId('sess');
  let wire = restored?.session ?? sessionToStart(parts, id);
  let casting = castingToStart(parts.casting, restored?.session, castScene);
  const session = new Session({
    ...sessionPartsOf(parts, peer),
    ...castOf(casting, client),
    settings: settingsOf(wire, casting.character),
  });
  const listeners =
    parts.listen?.({
      id,
      conversation: session.conversation,
      session: wire,
      restore: (state) => session.restore(state),
    }) ?? [];
  const toClient = clientListener(wire, client, peer);
  if (restored === undefined) toClient.tell({ type: 'session.created', session: echoOf(wire) });
  const delivered = deliver(session, listeners, toClient, parts.ports);
  const done = Promise.all([delivered, session.run()]).then(([reason]) => reason);
  const { accepts, take } = gateTo(session, listeners, inflow, () => wire.x_dramatis.players?.length ?? 1);
  if (restored?.reply !== undefined) session.send({ type: 'reply', request: restored.reply });
  const receive = (decode: (context: DecodeContext) => Decoded): void => {
    if (!accepts(inflow?.takeEvent())) return;
    const decoded = decode({
      character: casting.character,
      castScene,
      client,
      ...termsOf(parts),
      sampleRate: casting.responder.sampleRate,
      newItemId: () => newId('item'),
      session: wire,
      find: (itemId) => session.conversation.get(itemId),
      admits: (message) => peer.admits?.(message) ?? true,
      takeText: (bytes) => inflow?.takeText(bytes) ?? 'take',
      onFault: parts.ports.onFault,
    });
    wire = decoded.session;
    casting = decoded.casting ?? casting;
    if (decoded.command !== undefined) take(numbered(decoded.command, decoded.sequence));
  };
  const numbered = (command: SessionCommand, sequence: number | undefined): SessionCommand =>
    peer.kept === undefined || sequence === undefined ? command : { ...command, sequence };

  return {
    id,
    done,
    receive: (event) => receive((context) => decodeEvent(event, context)),
    receiveText: (text) => receive((context) => decodeText(text, context)),
    receiveAudio(samples, sampleRate, sequence, player) {
      const command = soundBy({ type: 'audio', samples, sampleRate }, { x_dramatis: { player } }, wire);
      if (command.type === 'audio' || accepts(inflow?.takeEvent())) take(numbered(command, sequence));
    },
    reject(problem = binaryNotUnderstood) {
      if (accepts(inflow?.takeEvent())) session.send({ type: 'reject', problem });
    },
    away: (isAway) => session.away(isAway),
    close: () => session.close(),
  };
}

const termsOf = ({ reports, bindsUser }: ConnectionParts) => ({ reports, bindsUser });

/** Returns the parts of the session engine that do not depend on its participants. */
function sessionPartsOf(
  { engines, bounds, ports, client, restored, recall }: ConnectionParts,
  peer: Peer,
): Omit<SessionParts, keyof Cast | 'settings'> {
  return {
    ...engines,
    ...bounds,
    ...ports,
    stopsAtOnce: client.holds === true,
    probeLine: peer.probe && sharedProbe((answered) => peer.probe?.(answered)),
    items: restored?.items,
    before: restored?.beforeScene,
    feelings: restored?.feelings,
    relations: restored?.relations,
    relationsWith: restored?.relationsWith,
    world: restored?.world,
    story: restored?.story,
    recall,
  };
}

/** The last listener: sends the peer each event, and audio in the form it takes. */
interface ClientListener extends SessionListener {
  /** False once the peer has refused an event, because the client does not read. */
  readonly isRead: boolean;
  tell(out: WireEvent | OutgoingAudio): void;
}

function clientListener(opened: WireSession, client: Client, peer: Peer): ClientListener {
  const encode = createEncoder(opened, client);
  const sends = (out: WireEvent | OutgoingAudio): boolean => {
    if (isAudio(out) && client.beta !== true && peer.sendAudio !== undefined) return peer.sendAudio(out);
    const event = { event_id: newId('event'), ...(isAudio(out) ? audioDelta(out) : out) };
    return client.beta === true ? toBeta(event).every((one) => peer.send(one)) : peer.send(event);
  };
  let isRead = true;
  const encoded = (event: SessionEvent): void => void (isRead = encode(event).every(sends));
  return {
    get isRead() {
      return isRead;
    },
    tell: (out) => void sends(out),
    note(event) {
      if (event.kept !== undefined) peer.kept?.(event.kept);
      if (event.type !== 'reply-started') return encoded(event);
      return Promise.resolve(peer.beforeReply?.(event.replyId)).then(() => encoded(event));
    },
  };
}

/** Passes the client's commands to the session, within its limits. */
function gateTo(
  session: Session,
  listeners: readonly SessionListener[],
  inflow: InputRateLimit | undefined,
  players: () => number,
): { readonly accepts: (verdict?: RateLimitVerdict) => boolean; readonly take: (command: SessionCommand) => void } {
  const accepts = (verdict: RateLimitVerdict = 'take'): boolean => {
    if (typeof verdict === 'object') session.send({ type: 'reject', problem: verdict });
    return verdict === 'take';
  };
  const take = (command: SessionCommand): void => {
    if (command.type === 'heard') for (const one of listeners) one.heard?.(command.replyId, command.heardMs);
    if (command.type !== 'audio') return session.send(command);
    if (session.waitingAudioMs > limits.waitingAudioMs) {
      const message = 'More than ten minutes of audio are queued. Send audio at real-time speed.';
      return session.send({ type: 'reject', problem: { code: 'input_audio_too_fast', message } });
    }
    const durationMs = (command.samples.length / command.sampleRate) * 1000;
    if (accepts(inflow?.takeAudio(durationMs / Math.max(1, players())))) session.send(command);
  };
  return { accepts, take };
}

/** Tells the client all events, and the listeners all but partial transcripts, until the session or the client ends it; a failed send ends the session. */
async function deliver(
  session: Session,
  listeners: readonly SessionListener[],
  toClient: ClientListener,
  { onFault }: Pick<Ports, 'onFault'>,
): Promise<'closed' | 'client_too_slow'> {
  const all = [...listeners, toClient];
  try {
    for await (const event of session.events) {
      for (const listener of event.type === 'transcript-partial' ? [toClient] : all) {
        const pending = listener.note(event);
        if (pending !== undefined) await pending;
      }
      if (!toClient.isRead) return 'client_too_slow';
    }
  } catch (fault) {
    onFault(fault);
  } finally {
    session.close();
    for (const listener of all) await listener.end?.();
  }
  return 'closed';
}

function sessionToStart({ casting, client, ...parts }: ConnectionParts, id: string): WireSession {
  const startWith = client.beta === true ? betaStart(parts.startWith) : parts.startWith;
  const fresh = newWireSession(casting.character, {
    id,
    model: parts.model,
    expiresAt: Math.floor((Date.now() + parts.bounds.sessionMs) / 1000),
    recognizer: parts.recognizer,
    about: casting.about,
    type: parts.intent ?? startWith?.type,
  });
  const wanted = startWith === undefined ? fresh : mergeSession(fresh, startWith, casting.character);
  return 'code' in wanted ? fresh : wanted;
}

/** Returns an encoder to GA for one session: each session event becomes the wire events that it requires. */
function createEncoder(
  opened: WireSession,
  client: Client = {},
): (event: SessionEvent) => (WireEvent | OutgoingAudio)[] {
  const responses = new Map<string, OpenResponse>();
  let session = { ...client, ...encodedSession(opened) };
  return (event) => {
    if ('replyId' in event) return responseEvents(event, responses, session);
    // An update takes effect here in its place among the events, not when the client sent it.
    if (event.type === 'updated') session = { ...client, ...encodedSession(sessionIn(event)) };
    return conversationEvents(event, session);
  };
}

function encodedSession({ id, audio, x_dramatis: { actions = [] } }: WireSession): EncodedSession & KnownSession {
  const { input, output } = audio;
  return { id, voice: output.voice, inputFormat: input.format, outputFormat: output.format, acts: actions.length > 0 };
}
