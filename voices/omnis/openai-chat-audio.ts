import { z } from 'zod';
import { addressOf, baseUrlSchema, bearer } from '../calls/base-url.ts';
import type { Adapter, EngineContext } from '../calls/context.ts';
import { send } from '../calls/http.ts';
import { checkOpenaiModel } from '../calls/openai-models.ts';
import type { CallOptions } from '../engine.ts';
import { wavBytes } from '../dsp/wav.ts';
import type { OmniMessage, OmniModel, OmniOptions, OmniPart } from '../omni.ts';
import { readChatAudio } from './chat-audio-stream.ts';
import type { Meter } from '../calls/calls.ts';

interface Dialect {
  /** What the sound is asked for as; headerless 24 kHz in any case. */
  readonly format: 'pcm16' | 'wav';
  /** What stands before the base64 of the user's sound. */
  readonly soundPrefix: string;
  /** Where the name of the voice goes. */
  readonly voiceIn: 'audio' | 'speaker';
  readonly defaultVoice: string;
}

const dialects = {
  openai: { format: 'pcm16', soundPrefix: '', voiceIn: 'audio', defaultVoice: 'alloy' },
  // It takes no bare base64.
  dashscope: { format: 'wav', soundPrefix: 'data:;base64,', voiceIn: 'audio', defaultVoice: 'Chelsie' },
  'vllm-omni': { format: 'wav', soundPrefix: '', voiceIn: 'speaker', defaultVoice: 'chelsie' },
} as const satisfies Readonly<Record<string, Dialect>>;

type DialectName = keyof typeof dialects;

const settings = z.strictObject({
  /** With the version, such as `https://api.openai.com/v1`. */
  baseUrl: baseUrlSchema,
  model: z.string().min(1),
  dialect: z.enum(Object.keys(dialects) as [DialectName, ...DialectName[]]).default('openai'),
  /** Who speaks where "voices" names nobody for a character. */
  defaultVoice: z.string().min(1).optional(),
  /** `user`: in front of the talk, for Qwen2.5-Omni, which speaks only under a system message of its own. */
  personaIn: z.enum(['system', 'user']).default('system'),
  /** The system message where the persona does not stand in it. */
  system: z.string().min(1).optional(),
  /** Further fields of the request, such as `{"temperature": 0.8}`. */
  extra: z.record(z.string(), z.unknown()).default({}),
});

export type OpenaiChatAudioSettings = z.infer<typeof settings>;

/** GPT-4o Audio and its successors, Qwen-Omni on Alibaba Cloud or vLLM-Omni: chat completions with sound. */
export const adapter: Adapter<OmniModel, OpenaiChatAudioSettings> = {
  settings,
  care: () => ({ concurrency: 8, timeouts: { betweenBytesMs: 30_000 } }),
  open: (chosen, context) => ({
    name: context.name,
    reply: (messages, options) =>
      context.calls.stream(
        ({ signal, meter }) => ask(messages, { ...options, signal, meter }, chosen, context),
        options,
      ),
    check: (options: CallOptions) => checkOpenaiModel(context, chosen, options),
  }),
};

async function* ask(
  messages: readonly OmniMessage[],
  options: OmniOptions & { readonly meter: Meter },
  chosen: OpenaiChatAudioSettings,
  context: EngineContext,
): AsyncGenerator<OmniPart> {
  const { signal, meter, speaks, maxTokens } = options;
  const { format, soundPrefix, voiceIn, defaultVoice }: Dialect = dialects[chosen.dialect];
  const voice = options.voice ?? chosen.defaultVoice ?? defaultVoice;
  // OpenAI's models refuse a talk in which nothing is sound.
  const wantsSound = speaks || messages.every((message) => message.sound === undefined);
  const json = {
    model: chosen.model,
    messages: await Promise.all(placed(messages, chosen).map((message) => encoded(message, soundPrefix))),
    modalities: wantsSound ? ['text', 'audio'] : ['text'],
    ...(wantsSound ? { audio: voiceIn === 'audio' ? { voice, format } : { format } } : {}),
    ...(wantsSound && voiceIn === 'speaker' ? { speaker: voice } : {}),
    ...(maxTokens === undefined || maxTokens === Infinity ? {} : { max_completion_tokens: maxTokens }),
    stream: true,
    stream_options: { include_usage: true },
    ...chosen.extra,
  };
  const url = addressOf(chosen.baseUrl, '/chat/completions');
  const { body } = await send(context, { url, json, headers: bearer(context.key) }, { signal });
  yield* readChatAudio(body, { upstream: context, meter, speaks });
}

/** The persona where the model wants it. */
function placed(
  messages: readonly OmniMessage[],
  { personaIn, system }: OpenaiChatAudioSettings,
): readonly OmniMessage[] {
  const [persona, ...talk] = messages;
  if (personaIn === 'system' || persona?.role !== 'system') return messages;
  const first = talk.findIndex((message) => message.role === 'user');
  const told = talk.map((message, index) =>
    index === first ? { ...message, text: [persona.text, message.text].filter(Boolean).join('\n\n') } : message,
  );
  return [...(system === undefined ? [] : [{ role: 'system' as const, text: system }]), ...told];
}

async function encoded({ role, text, sound }: OmniMessage, soundPrefix: string): Promise<object> {
  if (sound === undefined) return { role, content: text };
  const wav = await wavBytes(sound.samples, sound.sampleRate);
  const data = soundPrefix + Buffer.from(wav).toString('base64');
  return {
    role,
    content: [
      ...(text === '' ? [] : [{ type: 'text', text }]),
      { type: 'input_audio', input_audio: { data, format: 'wav' } },
    ],
  };
}
