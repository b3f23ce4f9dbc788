import { errorTable } from '../errors.ts';
import { wireSampleRate } from '../protocol/limits.ts';
import { Resampler } from '../../voices/resampler.ts';
import type { ReplyEnd, SessionEvent } from '../session/events.ts';
import { usageOf, wireFormat, type OutgoingAudio, type WireEvent } from './wire-event.ts';
import { wireItem } from './wire-items.ts';

/** A response whose `response.done` is still owed. */
export interface OpenResponse {
  readonly speaks: boolean;
  readonly conversationId: string | null;
  readonly metadata: unknown;
  itemId: string | undefined;
  previousItemId: string | null;
  transcript: string;
  resampler: Resampler | undefined;
  sentSamples: number;
}

type ReplyEvent = Extract<SessionEvent, { readonly replyId: string }>;
interface Session {
  readonly voice: string;
  readonly id: string;
}

/** The events of one response, in the order of the protocol: brackets open once, close once, and `done` comes last. */
export function responseEvents(
  event: ReplyEvent,
  responses: Map<string, OpenResponse>,
  session: Session,
): (WireEvent | OutgoingAudio)[] {
  if (event.type === 'reply-started') {
    const opened: OpenResponse = {
      speaks: event.speaks,
      conversationId: event.inConversation ? `conv_${session.id}` : null,
      metadata: event.metadata,
      itemId: undefined,
      previousItemId: null,
      transcript: '',
      resampler: undefined,
      sentSamples: 0,
    };
    responses.set(event.replyId, opened);
    const response = { ...responseObject(event.replyId, opened, session), status: 'in_progress', status_details: null };
    return [{ type: 'response.created', response: { ...response, output: [], usage: null } }];
  }
  const open = responses.get(event.replyId);
  if (open === undefined) return [];
  switch (event.type) {
    case 'reply-item':
      return openItem(event, open);
    case 'reply-text':
      return textDelta(event, open);
    case 'reply-audio':
      return audioDelta(event, open);
    case 'reply-ended':
      responses.delete(event.replyId);
      return closeResponse(event, open, session);
  }
}

function openItem(
  event: Extract<ReplyEvent, { type: 'reply-item' }>,
  open: OpenResponse,
): (WireEvent | OutgoingAudio)[] {
  open.itemId = event.item.id;
  open.previousItemId = event.previousItemId;
  const item = { ...wireItem(event.item), content: [] };
  const part = open.speaks ? { type: 'audio', transcript: '' } : { type: 'text', text: '' };
  return [
    { type: 'response.output_item.added', response_id: event.replyId, output_index: 0, item },
    { type: 'conversation.item.added', previous_item_id: event.previousItemId, item },
    { type: 'response.content_part.added', ...place(event.replyId, open), part },
  ];
}

function textDelta(event: Extract<ReplyEvent, { type: 'reply-text' }>, open: OpenResponse): WireEvent[] {
  open.transcript += event.text;
  const base = { ...place(event.replyId, open), delta: event.text };
  if (!open.speaks) return [{ type: 'response.output_text.delta', ...base }];
  const words = event.words.map(({ text, startMs, endMs }) => ({
    text,
    start_ms: Math.round(startMs),
    end_ms: Math.round(endMs),
  }));
  const x = { start_ms: words[0]?.start_ms ?? null, words };
  return [{ type: 'response.output_audio_transcript.delta', ...base, x_dramatis: x }];
}

function audioDelta(event: Extract<ReplyEvent, { type: 'reply-audio' }>, open: OpenResponse): OutgoingAudio[] {
  open.resampler ??= new Resampler(event.sampleRate, wireSampleRate);
  return outgoing(event.replyId, open, open.resampler.push(event.samples));
}

function outgoing(responseId: string, open: OpenResponse, samples: Float32Array): OutgoingAudio[] {
  if (samples.length === 0 || open.itemId === undefined) return [];
  const offsetSamples = open.sentSamples;
  open.sentSamples += samples.length;
  return [{ responseId, itemId: open.itemId, samples, offsetSamples }];
}

function closeResponse(
  event: Extract<ReplyEvent, { type: 'reply-ended' }>,
  open: OpenResponse,
  session: Session,
): (WireEvent | OutgoingAudio)[] {
  const { replyId, end, item } = event;
  const events: (WireEvent | OutgoingAudio)[] = [];
  const output: unknown[] = [];
  if (item !== undefined) {
    if (end.status !== 'cancelled' && open.resampler !== undefined) {
      events.push(...outgoing(replyId, open, open.resampler.flush()));
    }
    const at = place(replyId, open);
    const said = item.content[0]?.type === 'audio' ? (item.content[0].transcript ?? '') : open.transcript;
    const finished = wireItem(item);
    output.push(finished);
    if (open.speaks) {
      events.push({ type: 'response.output_audio.done', ...at });
      events.push({ type: 'response.output_audio_transcript.done', ...at, transcript: said });
    } else events.push({ type: 'response.output_text.done', ...at, text: said });
    const part = open.speaks ? { type: 'audio', transcript: said } : { type: 'text', text: said };
    events.push({ type: 'response.content_part.done', ...at, part });
    events.push({ type: 'response.output_item.done', response_id: replyId, output_index: 0, item: finished });
    events.push({ type: 'conversation.item.done', previous_item_id: open.previousItemId, item: finished });
  }
  const response = {
    ...responseObject(replyId, open, session),
    status: end.status,
    status_details: statusDetails(end),
    output,
    usage: usageOf(end.usage),
    x_dramatis: { mind: end.mind ?? null, latency: end.latency },
  };
  return [...events, { type: 'response.done', response }];
}

function responseObject(replyId: string, open: OpenResponse, session: Session): Record<string, unknown> {
  return {
    id: replyId,
    object: 'realtime.response',
    conversation_id: open.conversationId,
    output_modalities: open.speaks ? ['audio'] : ['text'],
    max_output_tokens: 'inf',
    audio: { output: { format: wireFormat, voice: session.voice } },
    metadata: open.metadata,
  };
}

function statusDetails(end: ReplyEnd): Record<string, unknown> | null {
  if (end.status === 'completed') return null;
  if (end.problem === undefined) return { type: end.status, reason: end.reason ?? null };
  const { code, message } = end.problem;
  return { type: end.status, error: { type: errorTable[code][0], code, message } };
}

function place(replyId: string, open: OpenResponse): Record<string, unknown> {
  return { response_id: replyId, item_id: open.itemId, output_index: 0, content_index: 0 };
}
