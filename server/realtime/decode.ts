import type { z } from 'zod';
import type { Character } from '../../characters/character.ts';
import { clientEventSchema, clientEventTypes, type ClientEvent, type SessionPatch } from '../protocol/client-events.ts';
import { wireSampleRate } from '../protocol/limits.ts';
import type { Item } from '../session/contract/item.ts';
import type { Problem, ReplyRequest, SessionCommand } from '../session/contract/events.ts';
import type { ConnectionParts } from './connection.ts';
import { soundOfAppend, audioFormatOf, sampleRateOf } from './audio-format.ts';
import { fromBeta } from './beta.ts';
import type { ResponseEcho } from './encode-response.ts';
import { frameProblem, measureFrame, misplacedMedia, type FrameSize } from './frame-size.ts';
import type { Client, RateLimitVerdict } from './peer.ts';
import { itemFromWire, samplesFromBase64 } from './encode.ts';
import { castOf, recast, recastSession, type Casting, type CastScene } from './wire-scene.ts';
import { saidBy, soundBy } from './wire-players.ts';
import { gameCommand, noReplies } from './wire-game.ts';
import { asksForTools, mergeTools, toolboxOf } from './wire-tools.ts';
import { badFormat, mergeSession, oneModality, samplingIn, settingsOf, type WireSession } from './wire-session.ts';

/** The parts of a session that decoding needs. */
export interface DecodeContext extends Pick<ConnectionParts, 'reports' | 'bindsUser'> {
  readonly character: Character;
  /** Casts the scene that a client chooses. */
  readonly castScene: CastScene;
  readonly client: Client;
  /** Sample rate of the recognizer. */
  readonly sampleRate: number;
  readonly newItemId: () => string;
  /** The session after the last update. */
  readonly session: WireSession;
  readonly find: (id: string) => Item | undefined;
  /** See `Peer.admits`. */
  readonly admits: (message: unknown) => boolean;
  /** Charges this many bytes against the client's rate limit. */
  readonly takeText: (bytes: number) => RateLimitVerdict;
  /** Called with internal faults. */
  readonly onFault: (fault: unknown) => void;
}

/** The command in an event, and the session after it. Without a command: the event was not admitted. */
export interface Decoded {
  readonly command?: SessionCommand;
  readonly session: WireSession;
  /** New participants, from now on. */
  readonly casting?: Casting;
  /** The client's number of the message, if it has one. */
  readonly sequence?: number | undefined;
}

/**
 * Decodes one event as a client sent it: JSON, as a string or, which is faster for audio, as its bytes. An invalid one
 * becomes a `reject` command, which is answered in its place.
 */
export function decodeText(text: string | Buffer, context: DecodeContext): Decoded {
  return guarded(context, () =>
    typeof text === 'string' ? understand(text, context) : (plainAppend(text, context) ?? understand(text, context)),
  );
}

/** Decodes one event. One that is not possible now becomes a `reject` command. */
export function decodeEvent(event: ClientEvent, context: DecodeContext): Decoded {
  return guarded(context, () => decode(event, context));
}

/** An event that makes the decoder fail ends neither the session nor the process. */
function guarded(context: DecodeContext, act: () => Decoded): Decoded {
  try {
    return act();
  } catch (fault) {
    context.onFault(fault);
    return reject({ code: 'internal_error', message: 'The event could not be processed.' }, undefined, context);
  }
}

function reject(problem: Problem, ref: string | undefined, { session }: DecodeContext): Decoded {
  return { command: { type: 'reject', problem, ...refOf(ref) }, session };
}

/** Decodes a plain audio event, which nearly all are. It has no number, so every peer admits it. */
function plainAppend(text: Buffer, { session }: DecodeContext): Decoded | undefined {
  const { format } = session.audio.input;
  const samples = soundOfAppend(text, format);
  if (samples === undefined) return undefined;
  return { command: { type: 'audio', samples, sampleRate: sampleRateOf(format) }, session };
}

function understand(text: string | Buffer, context: DecodeContext): Decoded {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  const size = measureFrame(bytes);
  const problem = frameProblem(bytes.length, size);
  if (problem !== undefined) return reject(problem, undefined, context);
  const looksLikeAudio = size.values < fewValues && bytes.includes(appendType);
  if (!looksLikeAudio) {
    const refused = weigh(size, context);
    if (refused !== undefined) return refused;
  }
  let message: unknown;
  try {
    message = JSON.parse(bytes.toString('utf8'));
  } catch {
    return reject({ code: 'invalid_json', message: 'The message is not valid JSON.' }, undefined, context);
  }
  if (looksLikeAudio && !(isRecord(message) && message['type'] === appendType)) {
    const refused = weigh(size, context);
    if (refused !== undefined) return refused;
  }
  const misplaced = size.mediaBytes > 0 ? misplacedMedia(message) : undefined;
  if (misplaced !== undefined) return reject(misplaced, eventIdOf(message), context);
  if (!context.admits(message)) return { session: context.session };
  const inGa = context.client.beta === true ? fromBeta(message) : message;
  const parsed = clientEventSchema.safeParse(inGa);
  if (!parsed.success) return reject(problemOf(inGa, parsed.error), eventIdOf(inGa), context);
  const { x_seq: sequence } = message as { readonly x_seq?: unknown };
  return { ...decode(parsed.data, context), ...(typeof sequence === 'number' ? { sequence } : {}) };
}

function decode(event: ClientEvent, context: DecodeContext): Decoded {
  const { session } = context;
  const ref = event.event_id;
  if (event.type === 'session.update') {
    const updated = update(event.session, context);
    if ('code' in updated) return reject(updated, ref, context);
    return { ...updated, command: { ...updated.command, ...refOf(ref) } };
  }
  const command = commandOf(event, context);
  return 'code' in command ? reject(command, ref, context) : { command: { ...command, ...refOf(ref) }, session };
}

function update(
  patch: SessionPatch,
  { session, character, castScene, client, bindsUser }: DecodeContext,
): (Required<Pick<Decoded, 'command'>> & Decoded) | Problem {
  const casting = recast(session, patch, castScene);
  if (casting !== undefined && 'code' in casting) return casting;
  const now = casting?.character ?? character;
  const before = casting === undefined ? session : recastSession(session, casting, character);
  const merged = mergeSession(before, patch, now, bindsUser);
  if ('code' in merged) return merged;
  const base = { type: 'update', settings: settingsOf(merged, now), echo: merged } as const;
  if (casting === undefined) return { command: base, session: merged };
  return { command: { ...base, cast: castOf(casting, client) }, session: merged, casting };
}

function commandOf(
  event: Exclude<ClientEvent, { type: 'session.update' }>,
  context: DecodeContext,
): SessionCommand | Problem {
  switch (event.type) {
    case 'input_audio_buffer.append': {
      const { format } = context.session.audio.input;
      const samples = samplesFromBase64(event.audio, format);
      if (samples === undefined) return badAudio('audio');
      return soundBy({ type: 'audio', samples, sampleRate: sampleRateOf(format) }, event, context.session);
    }
    case 'input_audio_buffer.commit':
      return soundBy({ type: 'audio-commit' }, event, context.session);
    case 'input_audio_buffer.clear':
      return soundBy({ type: 'audio-clear' }, event, context.session);
    case 'conversation.item.create': {
      const item = itemFromWire(event.item, event.item.id ?? context.newItemId(), itemSettings(context));
      if (item === undefined) return badAudio('item.content');
      const after = event.previous_item_id;
      return saidBy({ type: 'item-add', item, ...(after == null ? {} : { after }) }, event.item, context.session);
    }
    case 'conversation.item.retrieve':
      return { type: 'item-retrieve', id: event.item_id };
    case 'conversation.item.delete':
      return { type: 'item-delete', id: event.item_id };
    case 'conversation.item.truncate':
      return {
        type: 'item-truncate',
        id: event.item_id,
        contentIndex: event.content_index,
        heardMs: event.audio_end_ms,
      };
    case 'x_dramatis.heard':
      return {
        type: 'heard',
        replyId: event.response_id,
        heardMs: (event.samples / wireSampleRate) * 1000,
        held: event.held === true,
      };
    case 'response.create':
      if (context.session.type === 'transcription') return noReplies;
      return replyCommand(event.response ?? {}, context);
    case 'response.cancel':
      return { type: 'reply-cancel', ...(typeof event.response_id === 'string' ? { id: event.response_id } : {}) };
    default:
      return gameCommand(event, context);
  }
}

type WantedResponse = NonNullable<Extract<ClientEvent, { type: 'response.create' }>['response']>;

function replyCommand(wanted: WantedResponse, context: DecodeContext): SessionCommand | Problem {
  const items = Array.isArray(wanted.input) ? itemsOf(wanted.input, context) : undefined;
  if (items !== undefined && 'code' in items) return items;
  const echo = responseEcho(wanted);
  if ('code' in echo) return echo;
  const maxTokens = wanted.max_output_tokens;
  const sampling = samplingIn({}, wanted.x_dramatis);
  const request: ReplyRequest = {
    inConversation: wanted.conversation !== 'none',
    echo,
    ...(typeof wanted.instructions === 'string' ? { scene: wanted.instructions } : {}),
    ...(wanted.output_modalities === undefined ? {} : { speaks: oneModality(wanted.output_modalities)[0] === 'audio' }),
    ...(maxTokens === undefined ? {} : { maxTokens: maxTokens === 'inf' ? Infinity : maxTokens }),
    ...(asksForTools(wanted) ? { toolbox: toolboxOf(mergeTools(context.session, wanted)) } : {}),
    ...(items === undefined ? {} : { items }),
    ...(wanted.x_dramatis?.greeting === true ? { situation: 'greeting' } : {}),
    ...(Object.keys(sampling).length === 0 ? {} : { sampling }),
  };
  return { type: 'reply', request };
}

/** Returns the items that a response is made from, if these are not the conversation's. */
function itemsOf(input: NonNullable<WantedResponse['input']>, context: DecodeContext): Item[] | Problem {
  const items: Item[] = [];
  for (const [index, one] of input.entries()) {
    const isReference = one.type === 'item_reference';
    const item = isReference
      ? context.find(one.id)
      : itemFromWire(one, one.id ?? context.newItemId(), itemSettings(context));
    const param = `response.input[${index}]`;
    if (item === undefined && isReference)
      return { code: 'item_not_found', message: 'A referenced item does not exist.', param: `${param}.id` };
    if (item === undefined) return badAudio(param);
    items.push(item);
  }
  return items;
}

function responseEcho({ metadata = null, audio }: WantedResponse): ResponseEcho | Problem {
  const wanted = audio?.output?.format;
  if (wanted === undefined) return { metadata, format: undefined };
  const format = audioFormatOf(wanted);
  return format === undefined ? badFormat('response.audio.output.format') : { metadata, format };
}

const appendType = 'input_audio_buffer.append';

/** Audio sent as an event has few other fields. */
const fewValues = 16;

/** A value costs about as much to parse and to check as this many bytes of text; so does a byte of media. */
const bytesPerValue = 32;

const bytesPerMediaByte = 1 / 16;

/** Charges an event against the client's rate limit. Returns what to do if it is over it. */
function weigh({ textBytes, mediaBytes, values }: FrameSize, context: DecodeContext): Decoded | undefined {
  const bytes = Math.round(textBytes + mediaBytes * bytesPerMediaByte + values * bytesPerValue);
  const verdict = context.takeText(bytes);
  if (verdict === 'take') return undefined;
  return verdict === 'drop' ? { session: context.session } : reject(verdict, undefined, context);
}

/** Tells an unknown type from an invalid field, and names the field. */
function problemOf(message: unknown, error: z.ZodError): Problem {
  const type = isRecord(message) ? message['type'] : undefined;
  if (typeof type !== 'string')
    return { code: 'invalid_event', message: 'The event needs a string `type`.', param: 'type' };
  if (!clientEventTypes.has(type)) {
    return { code: 'unknown_event_type', message: `Unknown event type "${type.slice(0, 64)}".`, param: 'type' };
  }
  const issue = error.issues[0];
  const param = issue?.path.map(String).join('.') ?? '';
  if (issue?.code === 'too_big' && issue.origin === 'string') {
    return { code: 'text_too_long', message: `${param} is longer than ${issue.maximum} characters.`, param };
  }
  const code =
    issue !== undefined && ['too_big', 'too_small', 'invalid_value', 'custom'].includes(issue.code)
      ? 'invalid_value'
      : 'invalid_event';
  return { code, message: `${param}: ${issue?.message ?? 'invalid'}`.slice(0, 300), param };
}

function badAudio(param: string): Problem {
  const message =
    'Audio must be base64 of the session’s input format; by default that is 16-bit little-endian mono PCM at 24 kHz.';
  return { code: 'invalid_audio', message, param };
}

function itemSettings({ sampleRate, session }: DecodeContext): Parameters<typeof itemFromWire>[2] {
  return { format: session.audio.input.format, sampleRate };
}

function eventIdOf(message: unknown): string | undefined {
  const id = isRecord(message) ? message['event_id'] : undefined;
  return typeof id === 'string' ? id.slice(0, 512) : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function refOf(ref: string | undefined): { ref?: string } {
  return ref === undefined ? {} : { ref };
}
