import type { WireEvent } from '../protocol/server-events.ts';
import { errorObject } from '../session/contract/errors.ts';
import type { Problem, SessionEvent } from '../session/contract/events.ts';
import type { AudioFormat } from './audio-format.ts';
import { responseEvents, type EncodedSession, type OpenResponse } from './encode-response.ts';
import type { Client } from './peer.ts';
import { type OutgoingAudio, wireItem } from './wire-event.ts';
import { echoOf, sessionIn, type WireSession } from './wire-session.ts';

/** Returns an encoder to GA for one session: each session event becomes the wire events that it requires. */
export function createEncoder(
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

interface KnownSession extends EncodedSession {
  readonly inputFormat: AudioFormat;
}

function encodedSession({ id, audio }: WireSession): KnownSession {
  return { id, voice: audio.output.voice, inputFormat: audio.input.format, outputFormat: audio.output.format };
}

type ConversationEvent = Exclude<SessionEvent, { readonly replyId: string }>;

function conversationEvents(event: ConversationEvent, session: KnownSession): WireEvent[] {
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
