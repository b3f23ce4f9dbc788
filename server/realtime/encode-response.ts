import type { ServerItem, ServerResponse, WireEvent } from '../protocol/server-events.ts';
import type { Feelings } from '../../agents/feelings.ts';
import { errorTable } from '../session/contract/errors.ts';
import type { ReplyEnd, SessionEvent } from '../session/contract/events.ts';
import { type AudioFormat, ReplyAudio } from './audio-format.ts';
import type { Client } from './peer.ts';
import { feltIn, type OutgoingAudio, wireItem } from './encode.ts';
import { actionEvent } from './wire-game.ts';
import { wireVisemes, wireSamplesOf } from './wire-visemes.ts';

/** A response that still needs its `response.done`. */
export interface OpenResponse {
  readonly speaks: boolean;
  readonly conversationId: string | null;
  readonly metadata: unknown;
  readonly maxTokens: number;
  readonly format: AudioFormat;
  readonly sound: ReplyAudio;
  itemId: string | undefined;
  previousItemId: string | null;
  transcript: string;
  items: number;
  /** The sample up to which mouth shapes were sent; undefined while only the loudness is known. */
  mouthUntil: number | undefined;
}

/** Settings of one response that the session does not need; the session returns them in its events. */
export interface ResponseEcho {
  readonly metadata: unknown;
  /** Undefined: the session's. */
  readonly format: AudioFormat | undefined;
}

type ReplyEvent = Extract<SessionEvent, { readonly replyId: string }>;
type EventOf<Type extends ReplyEvent['type']> = Extract<ReplyEvent, { readonly type: Type }>;

/** The parts of a session that an encoder needs. */
export interface EncodedSession extends Pick<Client, 'holds' | 'cues' | 'mouth'> {
  readonly id: string;
  readonly voice: string;
  readonly outputFormat: AudioFormat;
  /** The characters may act in the client's game. */
  readonly acts: boolean;
}

/** Returns the wire events of one response in the protocol's order: each bracket opens and closes once. */
export function responseEvents(
  event: ReplyEvent,
  responses: Map<string, OpenResponse>,
  session: EncodedSession,
): (WireEvent | OutgoingAudio)[] {
  if (event.type === 'reply-started') {
    // Replies that the client did not request have no echo.
    const { metadata = null, format = session.outputFormat } = (event.echo ?? {}) as Partial<ResponseEcho>;
    const opened: OpenResponse = {
      speaks: event.speaks,
      conversationId: event.inConversation ? `conv_${session.id}` : null,
      metadata,
      maxTokens: event.maxTokens,
      format,
      sound: new ReplyAudio(format),
      itemId: undefined,
      previousItemId: null,
      transcript: '',
      items: 0,
      mouthUntil: 0,
    };
    responses.set(event.replyId, opened);
    const begun = { status: 'in_progress', status_details: null, output: [], usage: null } as const;
    const response = { ...responseObject(event.replyId, opened, session), ...begun, output: [] };
    return [{ type: 'response.created', response }];
  }
  const open = responses.get(event.replyId);
  if (open === undefined) return [];
  switch (event.type) {
    case 'reply-item':
      return openItem(event, open);
    case 'reply-text':
      return textDelta(event, open);
    case 'reply-audio':
      return [
        ...mouth(event, open, session),
        ...outgoing(event.replyId, open, open.sound.push(event.samples, event.sampleRate)),
      ];
    case 'reply-item-ended':
      return closeItem(event, open);
    case 'reply-call':
      return call(event, open);
    case 'reply-held':
      return session.holds === true ? [{ type: 'x_dramatis.hold', response_id: event.replyId }] : [];
    case 'reply-resumed':
      return session.holds === true ? [resumed(event, open, session)] : [];
    case 'reply-cue':
      return event.cue.action === undefined ? cue(event, session) : actionEvent(event);
    case 'reply-ended':
      responses.delete(event.replyId);
      return closeResponse(event, open, session);
  }
}

/** Encodes a stage direction. Thoughts are sent only if the client asked for them. */
function cue({ replyId, itemId, cue: told }: EventOf<'reply-cue'>, session: EncodedSession): WireEvent[] {
  const { kind, text, startMs } = told;
  if ((session.cues ?? 'none') === 'none' || (kind === 'thought' && session.cues !== 'all')) return [];
  const at = { start_ms: Math.round(startMs), samples: wireSamplesOf(startMs) };
  return [{ type: 'x_dramatis.cue', response_id: replyId, item_id: itemId, kind, text, ...at }];
}

function resumed(
  { replyId, laterMs }: EventOf<'reply-resumed'>,
  open: OpenResponse,
  session: EncodedSession,
): WireEvent {
  const told = { type: 'x_dramatis.resume', response_id: replyId, later_ms: Math.round(laterMs) } as const;
  if (session.mouth === undefined && !session.acts) return told;
  const later = wireSamplesOf(laterMs);
  if (open.mouthUntil !== undefined) open.mouthUntil += later;
  return { ...told, later_samples: later };
}

/** Encodes the mouth movement; a run of speech of which only the loudness is known gives one event. */
function mouth(
  { replyId, mouth: span }: EventOf<'reply-audio'>,
  open: OpenResponse,
  session: EncodedSession,
): WireEvent[] {
  if (session.mouth === undefined || span === undefined || open.itemId === undefined) return [];
  if (span.basis === 'level' && open.mouthUntil === undefined) return [];
  const told = wireVisemes(span, open.mouthUntil, session.mouth === 'phones');
  open.mouthUntil = told.until;
  return [{ type: 'x_dramatis.visemes', response_id: replyId, item_id: open.itemId, ...told }];
}

function openItem(event: EventOf<'reply-item'>, open: OpenResponse): (WireEvent | OutgoingAudio)[] {
  open.itemId = event.item.id;
  open.previousItemId = event.previousItemId;
  open.items += 1;
  // The item as it was when it began: by now it may have grown, or ended.
  const item: ServerItem = { ...wireItem(event.item), status: 'in_progress', content: [] };
  const at = place(event.replyId, event.item.id);
  return [
    { type: 'response.output_item.added', response_id: event.replyId, output_index: 0, item },
    ...inConversation(open, { type: 'conversation.item.added', previous_item_id: event.previousItemId, item }),
    { type: 'response.content_part.added', ...at, part: partOf(open, '') },
  ];
}

/** Returns the event, unless the response is out of band: no event of the conversation mentions it. */
function inConversation(open: OpenResponse, event: WireEvent): WireEvent[] {
  return open.conversationId === null ? [] : [event];
}

/** Encodes a call: it is complete, so its brackets open and close at once. */
function call(event: EventOf<'reply-call'>, open: OpenResponse): WireEvent[] {
  const { replyId, previousItemId, item } = event;
  const finished = wireItem(item);
  const begun: ServerItem = { ...finished, status: 'in_progress', arguments: '' };
  const output = { response_id: replyId, output_index: open.items };
  const at = { ...output, item_id: item.id, call_id: item.callId };
  open.items += 1;
  return [
    { type: 'response.output_item.added', ...output, item: begun },
    ...inConversation(open, { type: 'conversation.item.added', previous_item_id: previousItemId, item: begun }),
    { type: 'response.function_call_arguments.delta', ...at, delta: item.arguments },
    { type: 'response.function_call_arguments.done', ...at, name: item.name, arguments: item.arguments },
    { type: 'response.output_item.done', ...output, item: finished },
    ...inConversation(open, { type: 'conversation.item.done', previous_item_id: previousItemId, item: finished }),
  ];
}

function textDelta(event: EventOf<'reply-text'>, open: OpenResponse): WireEvent[] {
  if (open.itemId === undefined) return [];
  open.transcript += event.text;
  const base = { ...place(event.replyId, open.itemId), delta: event.text };
  const felt = feltIn(event);
  if (!open.speaks) return [{ type: 'response.output_text.delta', ...base, ...(felt && { x_dramatis: felt }) }];
  const words = event.words.map(({ text, startMs, endMs }) => ({
    text,
    start_ms: Math.round(startMs),
    end_ms: Math.round(endMs),
  }));
  const x = { start_ms: words[0]?.start_ms ?? null, words, ...felt };
  return [{ type: 'response.output_audio_transcript.delta', ...base, x_dramatis: x }];
}

function outgoing(responseId: string, open: OpenResponse, piece: ReturnType<ReplyAudio['push']>): OutgoingAudio[] {
  if (piece === undefined || open.itemId === undefined) return [];
  return [{ responseId, itemId: open.itemId, ...piece }];
}

function closeItem(event: EventOf<'reply-item-ended'>, open: OpenResponse): (WireEvent | OutgoingAudio)[] {
  const { replyId, item, cut } = event;
  const at = place(replyId, item.id);
  const said = item.content[0]?.type === 'audio' ? (item.content[0].transcript ?? '') : open.transcript;
  const finished = wireItem(item);
  const textDone: WireEvent[] = open.speaks
    ? [
        { type: 'response.output_audio.done', ...at },
        { type: 'response.output_audio_transcript.done', ...at, transcript: said },
      ]
    : [{ type: 'response.output_text.done', ...at, text: said }];
  return [
    ...(cut ? [] : outgoing(replyId, open, open.sound.flush())),
    ...textDone,
    { type: 'response.content_part.done', ...at, part: partOf(open, said) },
    { type: 'response.output_item.done', response_id: replyId, output_index: 0, item: finished },
    ...inConversation(open, {
      type: 'conversation.item.done',
      previous_item_id: open.previousItemId,
      item: finished,
    }),
  ];
}

function closeResponse(event: EventOf<'reply-ended'>, open: OpenResponse, session: EncodedSession): WireEvent[] {
  const { replyId, end, item, calls } = event;
  const response = {
    ...responseObject(replyId, open, session),
    status: end.status,
    status_details: statusDetails(end),
    output: [...(item === undefined ? [] : [item]), ...calls].map((one) => wireItem(one)),
    usage: usageOf(end.usage),
    x_dramatis: {
      mind: end.replySource ?? null,
      feelings: wireFeelings(end.feelings),
      cast_feelings: castFeelings(end),
      latency: { ...end.latency },
      speculation: speculationOf(end),
      scene_ended: end.rest === 'scene-end' ? true : undefined,
      users_turn: end.rest === 'users-turn' ? true : undefined,
      slips: end.violations && [...end.violations],
    },
  };
  // Requests and tokens are not limited here, so the list is empty; clients that wait for the event get it.
  return [
    { type: 'response.done', response },
    { type: 'rate_limits.updated', rate_limits: [] },
  ];
}

function wireFeelings({ emotions, intimacy }: Feelings): Record<string, number> {
  return { ...emotions, intimacy };
}

function castFeelings({ castFeelings: each }: ReplyEnd): Record<string, Record<string, number>> | undefined {
  return each && Object.fromEntries(Object.entries(each).map(([id, felt]) => [id, wireFeelings(felt)]));
}

function responseObject(replyId: string, open: OpenResponse, session: EncodedSession) {
  return {
    id: replyId,
    object: 'realtime.response' as const,
    conversation_id: open.conversationId,
    output_modalities: open.speaks ? ['audio'] : ['text'],
    max_output_tokens: open.maxTokens === Infinity ? 'inf' : open.maxTokens,
    audio: { output: { format: open.format, voice: session.voice } },
    metadata: open.metadata,
  };
}

function speculationOf({ speculation }: ReplyEnd): Record<string, unknown> | null {
  if (speculation === undefined) return null;
  const { drafts, used, wastedTokens, wastedSpeechMs } = speculation;
  return { drafts, used, wasted_tokens: wastedTokens, wasted_speech_ms: wastedSpeechMs };
}

function statusDetails(end: ReplyEnd): ServerResponse['status_details'] {
  if (end.status === 'completed') return null;
  if (end.problem === undefined) return { type: end.status, reason: end.reason ?? null };
  const { code, message } = end.problem;
  return { type: end.status, error: { type: errorTable[code][0], code, message } };
}

function partOf({ speaks }: OpenResponse, said: string) {
  return speaks ? ({ type: 'audio', transcript: said } as const) : ({ type: 'text', text: said } as const);
}

function place(replyId: string, itemId: string) {
  return { response_id: replyId, item_id: itemId, output_index: 0, content_index: 0 };
}

/** Token counts as OpenAI's clients expect them: 10 audio tokens a second in, 20 out. */
export function usageOf(usage: ReplyEnd['usage']): Record<string, unknown> {
  const audioTokens = Math.round(usage.audioMs / 50);
  return {
    total_tokens: usage.inputTokens + usage.outputTokens + audioTokens,
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens + audioTokens,
    input_token_details: {
      text_tokens: usage.inputTokens,
      audio_tokens: 0,
      image_tokens: 0,
      cached_tokens: 0,
      cached_tokens_details: { text_tokens: 0, audio_tokens: 0, image_tokens: 0 },
    },
    output_token_details: { text_tokens: usage.outputTokens, audio_tokens: audioTokens },
  };
}
