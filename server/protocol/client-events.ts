import { z } from 'zod';
import { recipeNames } from '../../agents/recipe-names.ts';
import {
  actionDoneEvent,
  actionsSchema,
  hearsSchema,
  playerSchema,
  playersSchema,
  reportEvent,
  triggerEvent,
  worldEvent,
} from './game-events.ts';
import { limits } from './limits.ts';

const id = z.string().min(1).max(limits.idCharacters);

const text = z.string().max(limits.textCharacters);

const instructions = z.string().max(limits.instructionsCharacters);

const modalities = z
  .array(z.enum(['audio', 'text']))
  .min(1)
  .max(2);

const maxTokens = z.union([z.number().int().min(1).max(4096), z.literal('inf')]);

const name = z.string().max(256);

/** The client's id for a user whose memories are kept. */
export const userName = z.string().min(1).max(limits.userCharacters);

/** Refinement that rejects values longer than `maximum` characters as JSON, or nested too deep. */
const within = (maximum: number): [check: (value: unknown) => boolean, message: string] => [
  (value) => jsonLength(value) <= maximum,
  `is longer than ${maximum} characters as JSON, or nested too deeply`,
];

/** A setting that is accepted and echoed but has no effect. */
const echoed = z.unknown().refine(...within(limits.echoCharacters));

const tool = z
  .looseObject({
    type: name,
    name: name.optional(),
    description: instructions.nullish(),
    parameters: z.record(z.string(), z.unknown()).nullish(),
  })
  .refine((tool) => tool.type !== 'function' || (tool.name ?? '') !== '', { error: 'a function needs a name' });

/** A tool as defined by a client. */
export type WireTool = z.infer<typeof tool>;

const toolChoice = z.union([
  z.enum(['auto', 'none', 'required']),
  z.looseObject({ type: name, name: name.optional() }).refine(...within(limits.echoCharacters)),
]);

/** Tool choice as sent by a client. */
export type WireToolChoice = z.infer<typeof toolChoice>;

const toolFields = {
  tools: z
    .array(tool)
    .max(limits.listLength)
    .refine(...within(limits.toolsCharacters))
    .nullish(),
  tool_choice: toolChoice.nullish(),
  parallel_tool_calls: z.boolean().nullish(),
};

const audioFormat = z.looseObject({ type: name, rate: z.number().int().optional() });

const turnDetection = z.looseObject({
  type: z.enum(['server_vad', 'semantic_vad']).optional(),
  threshold: z.number().min(0).max(1).optional(),
  prefix_padding_ms: z.number().min(0).max(5_000).optional(),
  silence_duration_ms: z.number().min(0).max(10_000).optional(),
  create_response: z.boolean().optional(),
  interrupt_response: z.boolean().optional(),
  idle_timeout_ms: z.number().min(100).max(3_600_000).nullable().optional(),
  eagerness: z.enum(['low', 'medium', 'high', 'auto']).optional(),
});

/** Sampling of the LLM; the seed also fixes what else is drawn by chance. Null: as without it. */
const samplingFields = {
  seed: z.number().int().min(0).max(0x7fff_ffff).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
};

/**
 * Session settings as a client may send them. Unknown names (models, voices, transcription models, tracing) are
 * accepted: standard clients always send some and must not break.
 */
export const sessionPatchSchema = z.looseObject({
  type: z.enum(['realtime', 'transcription']).optional(),
  instructions: instructions.nullable().optional(),
  output_modalities: modalities.optional(),
  max_output_tokens: maxTokens.optional(),
  ...toolFields,
  prompt: echoed.optional(),
  reasoning: echoed.optional(),
  include: echoed.optional(),
  tracing: echoed.optional(),
  truncation: echoed.optional(),
  audio: z
    .looseObject({
      input: z
        .looseObject({
          format: audioFormat.optional(),
          noise_reduction: z.unknown().optional(),
          transcription: z.looseObject({ model: name.optional(), language: name.nullish() }).nullable().optional(),
          turn_detection: turnDetection.nullable().optional(),
        })
        .optional(),
      output: z
        .looseObject({
          format: audioFormat.optional(),
          voice: z.union([name, z.looseObject({ id: name })]).optional(),
          speed: z.number().min(0.25).max(1.5).optional(),
        })
        .optional(),
    })
    .optional(),
  /** Extension: prompt recipe, user whose memories are kept, character, scene to play (null: none), actions of a game, who hears whom, several players, sampling. */
  x_dramatis: z
    .looseObject({
      recipe: z.enum(recipeNames).optional(),
      user: userName.nullish(),
      character: z.union([name.min(1), z.looseObject({ id: name.min(1) })]).optional(),
      scene: z.looseObject({ id: name.min(1) }).nullish(),
      actions: actionsSchema.nullish(),
      hears: hearsSchema.nullish(),
      players: playersSchema.nullish(),
      ...samplingFields,
    })
    .optional(),
});

/** A parsed `session` of `session.update`. */
export type SessionPatch = z.infer<typeof sessionPatchSchema>;

const contentPart = z
  .looseObject({
    type: z.enum(['input_text', 'input_audio', 'output_text', 'output_audio', 'text', 'audio', 'input_image']),
    text: text.optional(),
    transcript: text.nullable().optional(),
    audio: z.string().nullable().optional(),
  })
  .refine(...within(limits.frameBytes));

function textLength(parts: readonly z.infer<typeof contentPart>[]): number {
  return parts.reduce((sum, { text, transcript }) => sum + (text ?? '').length + (transcript ?? '').length, 0);
}

/** Extension: the player who says it, in a session with several. */
const byPlayer = { x_dramatis: z.looseObject({ player: playerSchema.optional() }).nullish() };

const messageItem = z.looseObject({
  type: z.literal('message'),
  id: id.optional(),
  role: z.enum(['system', 'user', 'assistant']),
  ...byPlayer,
  content: z
    .array(contentPart)
    .max(limits.listLength)
    .refine((parts) => textLength(parts) <= limits.itemCharacters, {
      error: `more than ${limits.itemCharacters} characters of text in one item`,
    }),
});

/** A message item as a client sends it. */
export type WireMessage = z.infer<typeof messageItem>;

const callText = z.string().max(limits.callCharacters);

const item = z.discriminatedUnion('type', [
  messageItem,
  z.looseObject({
    type: z.literal('function_call'),
    id: id.optional(),
    call_id: id.optional(),
    name: name.min(1),
    arguments: callText,
  }),
  z.looseObject({ type: z.literal('function_call_output'), id: id.optional(), call_id: id, output: callText }),
  // Kept in the conversation but never used.
  z
    .looseObject({
      type: z.enum(['mcp_approval_request', 'mcp_approval_response', 'mcp_call', 'mcp_list_tools', 'mcp_tool_call']),
      id: id.optional(),
    })
    .refine(...within(limits.callCharacters)),
]);

/** An item as a client sends it. */
export type WireItem = z.infer<typeof item>;

const itemReference = z.looseObject({ type: z.literal('item_reference'), id });

const responseRequest = z.looseObject({
  conversation: z.string().max(64).optional(),
  input: z
    .array(z.discriminatedUnion('type', [item, itemReference]))
    .max(limits.listLength)
    .nullable()
    .optional(),
  instructions: instructions.nullable().optional(),
  output_modalities: modalities.optional(),
  max_output_tokens: maxTokens.optional(),
  audio: z.looseObject({ output: z.looseObject({ format: audioFormat.optional() }).optional() }).nullish(),
  ...toolFields,
  metadata: z
    .record(z.string().max(64), z.string().max(512))
    .refine((entries) => Object.keys(entries).length <= 16, { error: 'more than 16 entries' })
    .nullable()
    .optional(),
  x_dramatis: z.looseObject({ greeting: z.boolean().optional(), ...samplingFields }).optional(),
});

const eventId = { event_id: z.string().max(512).optional() };

/** The client events of OpenAI Realtime (GA) needed for spoken and typed conversations. */
export const clientEventSchema = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('session.update'), ...eventId, session: sessionPatchSchema }),
  z.looseObject({ type: z.literal('input_audio_buffer.append'), ...eventId, audio: z.string(), ...byPlayer }),
  z.looseObject({ type: z.literal('input_audio_buffer.commit'), ...eventId, ...byPlayer }),
  z.looseObject({ type: z.literal('input_audio_buffer.clear'), ...eventId, ...byPlayer }),
  z.looseObject({
    type: z.literal('conversation.item.create'),
    ...eventId,
    previous_item_id: id.nullable().optional(),
    item,
  }),
  z.looseObject({ type: z.literal('conversation.item.retrieve'), ...eventId, item_id: id }),
  z.looseObject({
    type: z.literal('conversation.item.truncate'),
    ...eventId,
    item_id: id,
    content_index: z.number().int().min(0).default(0),
    audio_end_ms: z.number().min(0),
  }),
  z.looseObject({ type: z.literal('conversation.item.delete'), ...eventId, item_id: id }),
  z.looseObject({ type: z.literal('response.create'), ...eventId, response: responseRequest.nullable().optional() }),
  // Extension: playback position of a response in samples, at the wire's rate of 24 kHz.
  z.looseObject({
    type: z.literal('x_dramatis.heard'),
    ...eventId,
    response_id: id,
    samples: z.number().int().min(0),
    held: z.boolean().optional(),
  }),
  worldEvent,
  actionDoneEvent,
  reportEvent,
  triggerEvent,
  z.looseObject({ type: z.literal('response.cancel'), ...eventId, response_id: id.nullable().optional() }),
]);

/** A parsed client event. */
export type ClientEvent = z.infer<typeof clientEventSchema>;

/** All client event types, to distinguish an unknown type from a malformed event. */
export const clientEventTypes: ReadonlySet<string> = new Set(
  clientEventSchema.options.map((option) => option.shape.type.value),
);

/** Maximum nesting: deeper than any tool schema needs, far less than would overflow the stack. */
const deepest = 64;

/** Returns the approximate length of a value as JSON, without punctuation; Infinity if it is nested too deep. */
function jsonLength(value: unknown, depth = 0): number {
  if (depth > deepest) return Infinity;
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return String(value).length;
  return Object.entries(value).reduce((sum, [key, field]) => sum + key.length + jsonLength(field, depth + 1), 0);
}
