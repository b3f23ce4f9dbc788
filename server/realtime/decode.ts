import type { z } from 'zod';
import type { Character } from '../../characters/character.ts';
import { clientEventSchema, clientEventTypes, type ClientEvent } from '../protocol/client-events.ts';
import { wireSampleRate } from '../protocol/limits.ts';
import type { Item } from '../session/conversation.ts';
import type { Problem, ReplyRequest, SessionCommand } from '../session/events.ts';
import { itemFromWire, samplesFromBase64 } from './wire-items.ts';
import { mergeSession, oneModality, settingsOf, type WireSession } from './wire-session.ts';

/** What decoding needs to know of its session. */
export interface DecodeContext {
  readonly character: Character;
  /** What the recognizer wants. */
  readonly sampleRate: number;
  readonly newItemId: () => string;
  /** The session as it stands after the last update. */
  readonly session: WireSession;
  readonly find: (id: string) => Item | undefined;
  /** Whether a message is new and for the session; see `ConnectionParts.admit`. */
  readonly admit: (message: unknown) => boolean;
}

/** What a frame asks for, and the session after it. No command: the frame was not admitted. */
export interface Decoded {
  readonly command?: SessionCommand;
  readonly session: WireSession;
}

/** Understands one text frame. A frame that makes no sense becomes a `reject` command, answered in its turn. */
export function decode(frame: string, context: DecodeContext): Decoded {
  const { session } = context;
  const reject = (problem: Problem, ref?: string): Decoded => ({
    command: { type: 'reject', problem, ...refOf(ref) },
    session,
  });
  let message: unknown;
  try {
    message = JSON.parse(frame);
  } catch {
    return reject({ code: 'invalid_json', message: 'The message is not valid JSON.' });
  }
  if (!context.admit(message)) return { session };
  const parsed = clientEventSchema.safeParse(message);
  if (!parsed.success) return reject(problemOf(message, parsed.error), eventIdOf(message));
  const event = parsed.data;
  const ref = event.event_id;
  if (event.type === 'session.update') {
    const merged = mergeSession(session, event.session, context.character);
    if ('code' in merged) return reject(merged, ref);
    const command: SessionCommand = { type: 'update', settings: settingsOf(merged), echo: merged, ...refOf(ref) };
    return { command, session: merged };
  }
  const command = commandOf(event, context);
  return 'code' in command ? reject(command, ref) : { command: { ...command, ...refOf(ref) }, session };
}

function commandOf(
  event: Exclude<ClientEvent, { type: 'session.update' }>,
  context: DecodeContext,
): SessionCommand | Problem {
  switch (event.type) {
    case 'input_audio_buffer.append': {
      const samples = samplesFromBase64(event.audio);
      return samples === undefined ? badAudio('audio') : { type: 'audio', samples, sampleRate: wireSampleRate };
    }
    case 'input_audio_buffer.commit':
      return { type: 'audio-commit' };
    case 'input_audio_buffer.clear':
      return { type: 'audio-clear' };
    case 'conversation.item.create': {
      const item = itemFromWire(event.item, event.item.id ?? context.newItemId(), context.sampleRate);
      if (item === undefined) return badAudio('item.content');
      const after = event.previous_item_id;
      return { type: 'item-add', item, ...(typeof after === 'string' ? { after } : {}) };
    }
    case 'conversation.item.retrieve':
      return { type: 'item-retrieve', id: event.item_id };
    case 'conversation.item.delete':
      return { type: 'item-delete', id: event.item_id };
    case 'conversation.item.truncate':
      return { type: 'item-truncate', id: event.item_id, heardMs: event.audio_end_ms };
    case 'x_dramatis.heard':
      return { type: 'heard', replyId: event.response_id, heardMs: (event.samples / wireSampleRate) * 1000 };
    case 'response.create':
      return replyCommand(event.response ?? {}, context);
    case 'response.cancel':
      return { type: 'reply-cancel', ...(typeof event.response_id === 'string' ? { id: event.response_id } : {}) };
  }
}

function replyCommand(
  wanted: NonNullable<Extract<ClientEvent, { type: 'response.create' }>['response']>,
  context: DecodeContext,
): SessionCommand | Problem {
  const items: Item[] = [];
  for (const [index, input] of (wanted.input ?? []).entries()) {
    const item =
      input.type === 'item_reference'
        ? context.find(input.id)
        : itemFromWire(input, input.id ?? context.newItemId(), context.sampleRate);
    if (item === undefined && input.type === 'item_reference') {
      return {
        code: 'item_not_found',
        message: 'An item referred to does not exist.',
        param: `response.input[${index}].id`,
      };
    }
    if (item === undefined) return badAudio(`response.input[${index}]`);
    items.push(item);
  }
  const maxTokens = wanted.max_output_tokens;
  const request: ReplyRequest = {
    inConversation: wanted.conversation !== 'none',
    metadata: wanted.metadata ?? null,
    ...(typeof wanted.instructions === 'string' ? { scene: wanted.instructions } : {}),
    ...(wanted.output_modalities === undefined ? {} : { speaks: oneModality(wanted.output_modalities)[0] === 'audio' }),
    ...(typeof maxTokens === 'number' ? { maxTokens } : {}),
    ...(Array.isArray(wanted.input) ? { items } : {}),
    ...(wanted.x_dramatis?.greeting === true ? { situation: 'greeting' } : {}),
  };
  return { type: 'reply', request };
}

/** Tells a wrong type from a wrong field, and names the field. */
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
    issue?.code === 'too_big' || issue?.code === 'too_small' || issue?.code === 'invalid_value'
      ? 'invalid_value'
      : 'invalid_event';
  return { code, message: `${param}: ${issue?.message ?? 'invalid'}`.slice(0, 300), param };
}

function badAudio(param: string): Problem {
  return { code: 'invalid_audio', message: 'Audio must be base64 of 16-bit little-endian mono PCM at 24 kHz.', param };
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
