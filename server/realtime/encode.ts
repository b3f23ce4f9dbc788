import { randomBytes } from 'node:crypto';
import type { WireEvent, ServerItem } from '../protocol/server-events.ts';
import { errorObject } from '../session/contract/errors.ts';
import type { Problem, SessionEvent } from '../session/contract/events.ts';
import { type AudioFormat, bytesFromSamples, sampleRateOf, samplesFromBytes, type ReplyPiece } from './audio-format.ts';
import type { Client } from './peer.ts';
import { gameEvent, type GameEvent } from './wire-game.ts';
import { echoOf, sessionIn } from './wire-session.ts';
import type { Felt } from '../../characters/emotion.ts';
import { pcm16FromFloats, concatSamples, floatsFromInt16, int16FromFloats } from '../../voices/audio.ts';
import { resample } from '../../voices/dsp/resampler.ts';
import type { WireItem, WireMessage } from '../protocol/client-events.ts';
import { withoutLongTexts, type Item, type MessageItem } from '../session/contract/item.ts';

/** The parts of a session that the encoder of its conversation needs. */
export interface KnownSession extends Pick<Client, 'relations' | 'sections'> {
  readonly inputFormat: AudioFormat;
  readonly outputFormat: AudioFormat;
}

/** An event that belongs to no reply. */
type ConversationEvent = Exclude<SessionEvent, { readonly replyId: string }>;

const ofGame: readonly string[] = ['world-taken', 'action-off', 'relation', 'section'] satisfies GameEvent['type'][];

function isOfGame(event: ConversationEvent): event is GameEvent {
  return ofGame.includes(event.type);
}

/** Returns the wire events of one event of the conversation. */
export function conversationEvents(event: ConversationEvent, session: KnownSession): WireEvent[] {
  if (isOfGame(event)) return gameEvent(event, session);
  switch (event.type) {
    case 'updated':
      return [{ type: 'session.updated', session: echoOf(sessionIn(event)) }];
    case 'speech-started':
      return [{ type: 'input_audio_buffer.speech_started', audio_start_ms: event.atMs, item_id: event.itemId }];
    case 'speech-stopped':
      return [{ type: 'input_audio_buffer.speech_stopped', audio_end_ms: event.atMs, item_id: event.itemId }];
    case 'audio-committed':
      return [{ type: 'input_audio_buffer.committed', item_id: event.itemId, previous_item_id: event.previousItemId }];
    case 'idle':
      return [
        {
          type: 'input_audio_buffer.timeout_triggered',
          audio_start_ms: event.fromMs,
          audio_end_ms: event.atMs,
          item_id: event.itemId,
        },
      ];
    case 'audio-cleared':
      return [{ type: 'input_audio_buffer.cleared' }];
    case 'item-added': {
      const item = wireItem(event.item);
      return [
        { type: 'conversation.item.added', previous_item_id: event.previousItemId, item },
        { type: 'conversation.item.done', previous_item_id: event.previousItemId, item },
      ];
    }
    case 'item-retrieved': {
      const isSpokenByCharacter = event.item.type === 'message' && event.item.role === 'assistant';
      const format = isSpokenByCharacter ? session.outputFormat : session.inputFormat;
      return [{ type: 'conversation.item.retrieved', item: wireItem(event.item, format) }];
    }
    case 'item-truncated':
      return [
        {
          type: 'conversation.item.truncated',
          item_id: event.itemId,
          content_index: event.contentIndex,
          audio_end_ms: event.heardMs,
        },
      ];
    case 'item-deleted':
      return [{ type: 'conversation.item.deleted', item_id: event.itemId }];
    case 'reported':
      return [{ type: 'x_dramatis.reported', item_id: event.itemId }];
    case 'understood':
    case 'marked':
      return [];
    case 'problem':
      return [{ type: 'error', error: errorObject(event.problem, event.ref) }];
    default:
      return transcriptEvents(event);
  }
}

function transcriptEvents(event: Extract<ConversationEvent, { readonly type: `transcript-${string}` }>): WireEvent[] {
  const base = { item_id: event.itemId, content_index: 0 };
  const prefix = 'conversation.item.input_audio_transcription' as const;
  if (event.type === 'transcript-partial') {
    return [{ type: `${prefix}.delta`, ...base, delta: event.stable, x_dramatis: { text: event.text } }];
  }
  if (event.type === 'transcript-failed') return [{ type: `${prefix}.failed`, ...base, error: failure(event.problem) }];
  if (event.unclear !== undefined) return [{ type: `${prefix}.failed`, ...base, error: failure(event.unclear) }];
  return [
    {
      type: `${prefix}.completed`,
      ...base,
      transcript: event.text,
      usage: { type: 'duration', seconds: Math.round(event.audioMs) / 1000 },
      x_dramatis: { confidence: event.confidence ?? null },
    },
  ];
}

function failure(problem: Problem): Omit<ReturnType<typeof errorObject>, 'event_id'> {
  const { type, code, message, param } = errorObject(problem);
  return { type, code, message, param };
}

/** Audio of a reply on its way out, before it takes a wire form. */
export interface OutgoingAudio extends ReplyPiece {
  readonly responseId: string;
  readonly itemId: string;
}

export function isAudio(out: WireEvent | OutgoingAudio): out is OutgoingAudio {
  return !('type' in out);
}

/** Scratch buffer for audio to be encoded in base64: room for what is sent at once. */
const pcm = Buffer.from(new ArrayBuffer(8 * 1024));

/** Returns audio as the event that carries it by default. */
export function audioDelta(audio: OutgoingAudio): WireEvent {
  const bytes = audio.encoded === undefined ? pcm16FromFloats(audio.samples, pcm) : Buffer.from(audio.encoded);
  return {
    type: 'response.output_audio.delta',
    response_id: audio.responseId,
    item_id: audio.itemId,
    output_index: 0,
    content_index: 0,
    delta: bytes.toString('base64'),
  };
}

const idBytes = 12;
/** Random bytes for many ids at once: a call for them costs more than making an id. */
let random = Buffer.alloc(0);
let randomUsed = 0;

/** Returns a new id, with OpenAI's prefix for its kind. */
export function newId(kind: 'sess' | 'event' | 'item' | 'resp' | 'act'): string {
  if (randomUsed === random.length) {
    random = randomBytes(64 * idBytes);
    randomUsed = 0;
  }
  randomUsed += idBytes;
  return `${kind}_${random.toString('base64url', randomUsed - idBytes, randomUsed)}`;
}

/** Base64 by RFC 4648 §4, padded or not. */
const base64Pattern = /^[A-Za-z0-9+/]*={0,2}$/;

/** Decodes base64 of a format to samples at its rate; undefined if it is invalid. */
export function samplesFromBase64(audio: string, format: AudioFormat): Float32Array | undefined {
  const bytes = Buffer.from(audio, 'base64');
  // Node skips invalid characters. Encoding again to compare takes half the time of the pattern.
  const isBase64 = bytes.toString('base64') === audio || (audio.length % 4 !== 1 && base64Pattern.test(audio));
  return isBase64 ? samplesFromBytes(bytes, format) : undefined;
}

/** Audio format of a message, and the recognizer's sample rate. */
interface ItemSettings {
  readonly format: AudioFormat;
  readonly sampleRate: number;
}

/** Converts a client's item to the session's; undefined if its audio cannot be decoded. */
export function itemFromWire(item: WireItem, id: string, settings: ItemSettings): Item | undefined {
  const status = 'completed';
  switch (item.type) {
    case 'message': {
      const content = contentFromWire(item.content, settings);
      return content === undefined ? undefined : { id, type: 'message', role: item.role, status, content };
    }
    case 'function_call':
      // A call without an id cannot get a result.
      return { id, type: 'call', status, callId: item.call_id ?? id, name: item.name, arguments: item.arguments };
    case 'function_call_output':
      return { id, type: 'call-output', status, callId: item.call_id, output: item.output };
    default:
      return { id, type: 'opaque', status, value: item };
  }
}

function contentFromWire(parts: WireMessage['content'], settings: ItemSettings): MessageItem['content'] | undefined {
  const { format, sampleRate } = settings;
  const wireRate = sampleRateOf(format);
  const content: MessageItem['content'] = [];
  for (const part of parts) {
    if (part.type === 'input_image') {
      content.push({ type: 'opaque', value: part });
      continue;
    }
    const spoken = part.type === 'input_audio' || part.type === 'output_audio' || part.type === 'audio';
    if (!spoken) content.push({ type: 'text', text: part.text ?? '' });
    else {
      const samples = samplesFromBase64(part.audio ?? '', format);
      if (samples === undefined) return undefined;
      const audio = samples.length === 0 ? [] : [int16FromFloats(resample(samples, wireRate, sampleRate))];
      const durationMs = (samples.length / wireRate) * 1000;
      content.push({ type: 'audio', transcript: part.transcript ?? null, durationMs, audio, sampleRate, words: [] });
    }
  }
  return content;
}

/** Converts an item to its wire form; with its audio and pictures only if a format is given for the audio. */
export function wireItem(item: Item, soundFormat?: AudioFormat): ServerItem {
  const base = { id: item.id, object: 'realtime.item' as const, status: item.status };
  switch (item.type) {
    case 'message':
      return {
        ...base,
        type: 'message',
        role: item.role,
        content: wireContent(item, soundFormat),
        ...aboutMessage(item),
      };
    case 'call':
      return { ...base, type: 'function_call', call_id: item.callId, name: item.name, arguments: item.arguments };
    case 'call-output':
      return { ...base, type: 'function_call_output', call_id: item.callId, output: item.output };
    case 'opaque':
      return { ...item.value, ...base, type: String(item.value['type']) };
  }
}

function aboutMessage(item: MessageItem): Pick<ServerItem, 'x_dramatis'> {
  const { speaker } = item;
  const felt = feltIn(item);
  return felt === undefined && speaker === undefined ? {} : { x_dramatis: { ...felt, speaker } };
}

/** The emotion of an item or of a text, with its intensity if that is known. */
export function feltIn({ emotion, intensity }: Felt): Felt | undefined {
  if (emotion === undefined) return undefined;
  return intensity === undefined ? { emotion } : { emotion, intensity };
}

function wireContent(item: MessageItem, soundFormat: AudioFormat | undefined): Record<string, unknown>[] {
  const prefix = item.role === 'assistant' ? 'output' : 'input';
  return item.content.map((part) => {
    if (part.type === 'text') return { type: `${prefix}_text`, text: part.text };
    if (part.type === 'opaque') return soundFormat === undefined ? withoutLongTexts(part.value) : part.value;
    return {
      type: `${prefix}_audio`,
      transcript: part.transcript,
      ...(soundFormat === undefined ? {} : { audio: wireAudio(part.audio, part.sampleRate, soundFormat) }),
    };
  });
}

/** Encodes kept audio as base64 of a format. */
function wireAudio(blocks: readonly Int16Array[], sampleRate: number, format: AudioFormat): string {
  const samples = concatSamples(blocks.map(floatsFromInt16));
  return bytesFromSamples(resample(samples, sampleRate, sampleRateOf(format)), format).toString('base64');
}
