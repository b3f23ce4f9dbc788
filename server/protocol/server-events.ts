import { z } from 'zod';
import { contentCategories } from '../../agents/guardrails/content-words.ts';
import { cueKinds } from '../../agents/output/performance.ts';
import { visemes } from '../../voices/synthesizer.ts';
import { emotions } from '../../characters/emotion.ts';
import { latencyComponents } from '../session/contract/turn-timings.ts';

/** Fields common to all server events; `x_seq` is an extension for WebSockets, see `resumable-stream.ts`. */
const common = { event_id: z.string(), x_seq: z.number().int().min(1).optional() };
const id = z.string();
const inItem = { item_id: id, content_index: z.number().int() };
const inResponse = { response_id: id, output_index: z.number().int() };
const inPart = { ...inResponse, ...inItem };
/** Emotion of a reply, if it has one, and how strong it is. */
const felt = { emotion: z.enum(emotions).optional(), intensity: z.number().min(0).max(1).optional() };
const named = z.object({ id, name: z.string() });
const item = z.looseObject({
  id,
  type: z.string(),
  object: z.literal('realtime.item'),
  x_dramatis: z.object({ ...felt, speaker: named.optional() }).optional(),
});
const previous = { previous_item_id: id.nullable() };
/** The scene being played; `session.update` changes it by `id`, null ends it. */
const scene = z.object({
  id,
  title: z.string(),
  user: z.union([z.literal('listener'), z.object({ name: z.string(), profile: z.string() })]),
  cast: z.array(named),
  sections: z.array(z.string()).optional(),
  triggers: z.array(z.string()).optional(),
});
const session = z.looseObject({
  type: z.enum(['realtime', 'transcription']),
  id,
  object: z.string(),
  x_dramatis: z.looseObject({ scene: scene.optional() }).optional(),
});
const fault = z.looseObject({ type: z.string(), code: z.string().nullable(), message: z.string() });
const part = z.looseObject({ type: z.enum(['audio', 'text']) });
const word = z.object({ text: z.string(), start_ms: z.number(), end_ms: z.number() });
const ms = z.number().nullable();

/**
 * Latency breakdown of a turn, in milliseconds since the end of speech (or since the request, for a typed turn).
 * `owners` is the time attributed to each component (null: not involved) and adds up to `total_ms`.
 */
const latency = z.looseObject({
  basis: z.enum(['speech_end', 'text']),
  endpoint_ms: ms,
  transcript_ms: ms,
  first_token_ms: ms,
  first_phrase_ms: ms,
  first_audio_ms: ms,
  heard_ms: ms,
  owners: z.record(z.enum(latencyComponents), z.number().min(0).nullable()),
  total_ms: z.number().min(0),
});

/** Integers from 0 to 10, by the names in `agents/feelings.ts`. */
const feelings = z.record(z.string(), z.number().int().min(0).max(10));

const response = z.looseObject({
  id,
  object: z.literal('realtime.response'),
  status: z.enum(['in_progress', 'completed', 'cancelled', 'failed', 'incomplete']),
  status_details: z.looseObject({ type: z.string() }).nullable(),
  output: z.array(item),
  x_dramatis: z
    .looseObject({
      number: z.number().int().optional(),
      mind: z.looseObject({ name: z.string(), because: z.string().optional() }).nullable().optional(),
      feelings: feelings.optional(),
      cast_feelings: z.record(z.string(), feelings).optional(),
      latency: latency.optional(),
      scene_ended: z.boolean().optional(),
      users_turn: z.boolean().optional(),
      slips: z.array(z.string()).optional(),
    })
    .optional(),
});

const event = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.looseObject({ type: z.literal(type), ...common, ...shape });

/**
 * All server events: those of OpenAI Realtime (GA) that a speech server sends, and the `x_dramatis.…` extensions, sent
 * only to clients that requested them. Events may have more fields.
 */
export const serverEventSchema = z.discriminatedUnion('type', [
  event('session.created', { session }),
  event('session.updated', { session }),
  event('error', { error: fault.extend({ param: z.string().nullable(), event_id: z.string().nullable() }) }),
  event('input_audio_buffer.speech_started', { item_id: id, audio_start_ms: z.number() }),
  event('input_audio_buffer.speech_stopped', { item_id: id, audio_end_ms: z.number() }),
  event('input_audio_buffer.committed', { item_id: id, ...previous }),
  event('input_audio_buffer.cleared', {}),
  event('input_audio_buffer.timeout_triggered', { item_id: id, audio_start_ms: z.number(), audio_end_ms: z.number() }),
  event('conversation.item.added', { item, ...previous }),
  event('conversation.item.done', { item, ...previous }),
  event('conversation.item.retrieved', { item }),
  event('conversation.item.truncated', { ...inItem, audio_end_ms: z.number() }),
  event('conversation.item.deleted', { item_id: id }),
  event('conversation.item.input_audio_transcription.delta', {
    ...inItem,
    delta: z.string(),
    x_dramatis: z.object({ text: z.string() }).optional(),
  }),
  event('conversation.item.input_audio_transcription.completed', {
    ...inItem,
    transcript: z.string(),
    usage: z.looseObject({ type: z.string() }),
    x_dramatis: z.object({ confidence: ms }).optional(),
  }),
  event('conversation.item.input_audio_transcription.failed', { ...inItem, error: fault }),
  event('response.created', { response }),
  event('response.done', { response }),
  event('response.output_item.added', { ...inResponse, item }),
  event('response.output_item.done', { ...inResponse, item }),
  event('response.content_part.added', { ...inPart, part }),
  event('response.content_part.done', { ...inPart, part }),
  event('response.output_audio.delta', { ...inPart, delta: z.string() }),
  event('response.output_audio.done', inPart),
  event('response.output_audio_transcript.delta', {
    ...inPart,
    delta: z.string(),
    x_dramatis: z.object({ start_ms: ms, words: z.array(word), ...felt }).optional(),
  }),
  event('response.output_audio_transcript.done', { ...inPart, transcript: z.string() }),
  event('response.output_text.delta', {
    ...inPart,
    delta: z.string(),
    x_dramatis: z.object(felt).optional(),
  }),
  event('response.output_text.done', { ...inPart, text: z.string() }),
  event('response.function_call_arguments.delta', { ...inResponse, item_id: id, call_id: id, delta: z.string() }),
  event('response.function_call_arguments.done', {
    ...inResponse,
    item_id: id,
    call_id: id,
    name: z.string(),
    arguments: z.string(),
  }),
  event('rate_limits.updated', { rate_limits: z.array(z.looseObject({ name: z.string() })) }),
  event('output_audio_buffer.started', { response_id: id }),
  event('output_audio_buffer.stopped', { response_id: id }),
  event('output_audio_buffer.cleared', { response_id: id }),
  event('x_dramatis.hold', { response_id: id }),
  event('x_dramatis.resume', {
    response_id: id,
    later_ms: z.number().int(),
    later_samples: z.number().int().optional(),
  }),
  event('x_dramatis.cue', {
    response_id: id,
    item_id: id.nullable(),
    kind: z.enum(cueKinds),
    text: z.string(),
    start_ms: z.number().int().min(0),
    samples: z.number().int().min(0),
  }),
  event('x_dramatis.action', {
    response_id: id,
    item_id: id.nullable(),
    action_id: id,
    speaker: named.optional(),
    name: z.string(),
    target: z.string().optional(),
    args: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
    text: z.string(),
    start_ms: z.number().int().min(0),
    samples: z.number().int().min(0),
  }),
  event('x_dramatis.action_off', { action_id: id, because: z.enum(['unheard', 'barge_in']) }),
  event('x_dramatis.relation', {
    character: id,
    with: z.string(),
    axis: z.string(),
    value: z.number().int().min(-100).max(100),
    change: z.number().int(),
    because: z.string(),
  }),
  event('x_dramatis.section', { id, from: id, because: z.string() }),
  event('x_dramatis.world_taken', {
    id: id.nullable(),
    revision: z.number().int(),
    tokens: z.number().int(),
    tokens_left: z.number().int(),
    dropped_events: z.number().int(),
    respond: z.enum(['silent', 'auto', 'must', 'interrupt', 'after_user', 'after_reply']),
  }),
  event('x_dramatis.visemes', {
    response_id: id,
    item_id: id,
    basis: z.enum(['engine', 'words', 'aligned', 'sound', 'level']),
    from: z.number().int().min(0),
    until: z.number().int().optional(),
    visemes: z.array(
      z.union([z.tuple([z.number(), z.enum(visemes)]), z.tuple([z.number(), z.enum(visemes), z.number()])]),
    ),
    phones: z.array(z.tuple([z.number().int(), z.string()])).optional(),
  }),
  event('x_dramatis.voice', {
    response_id: id,
    similarity: z.number().min(-1).max(1),
    basis: z.enum(['reference', 'first_reply']),
  }),
  event('x_dramatis.reported', { item_id: id }),
  event('x_dramatis.kept_back', { side: z.enum(['user', 'character']), category: z.enum(contentCategories) }),
  event('x_dramatis.limit_near', {
    limit: z.enum(['replies', 'tokens', 'audio_s', 'cost']),
    left: z.number().min(0),
    of: z.number(),
  }),
  event('x_dramatis.session_expiring', { expires_in_s: z.number().int(), expires_at: z.number().int() }),
  event('x_dramatis.warning', {
    code: z.enum(['session_not_stored', 'memory_not_stored', 'report_not_stored']),
    message: z.string(),
  }),
  event('x_dramatis.ack', { x_ack: z.number().int(), x_kept: z.number().int().optional() }),
  event('x_dramatis.call_ended', { reason: z.enum(['ended', 'server_stopping', 'moved', 'session_expired']) }),
  event('x_dramatis.resumed', { received: z.number().int().nullable(), restarted: z.boolean().optional() }),
]);

/** The fields that the schema names, without the ones that it lets pass. */
type Named<Event> = Event extends unknown
  ? { [Key in keyof Event as string extends Key ? never : Key]: Event[Key] }
  : never;

export type ServerEvent = Named<z.infer<typeof serverEventSchema>>;

/** A server event without the fields that it gets as it is sent. */
export type WireEvent = ServerEvent extends infer Event
  ? Event extends ServerEvent
    ? Omit<Event, 'event_id' | 'x_seq'>
    : never
  : never;

export type ServerItem = z.infer<typeof item>;
export type ServerResponse = z.infer<typeof response>;
export type ServerSession = z.infer<typeof session>;
export type ServerScene = z.infer<typeof scene>;
export type Latency = Named<z.infer<typeof latency>>;
