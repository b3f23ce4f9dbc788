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
  /** Audio format to request; samples without a header are at 24 kHz either way. */
  readonly format: 'pcm16' | 'wav';
  /** Prefix of the base64-encoded user audio. */
  readonly soundPrefix: string;
  /** Part of the request that takes the voice name. */
  readonly voiceIn: 'audio' | 'speaker';
  readonly defaultVoice: string;
}

const dialects = {
  openai: { format: 'pcm16', soundPrefix: '', voiceIn: 'audio', defaultVoice: 'alloy' },
  // Rejects bare base64.
  dashscope: { format: 'wav', soundPrefix: 'data:;base64,', voiceIn: 'audio', defaultVoice: 'Chelsie' },
  'vllm-omni': { format: 'wav', soundPrefix: '', voiceIn: 'speaker', defaultVoice: 'chelsie' },
} as const satisfies Readonly<Record<string, Dialect>>;

type DialectName = keyof typeof dialects;

const settings = z.strictObject({
  /** Base URL including the API version, such as `https://api.openai.com/v1`. */
  baseUrl: baseUrlSchema,
  model: z.string().min(1),
  dialect: z.enum(Object.keys(dialects) as [DialectName, ...DialectName[]]).default('openai'),
  /** Voice used if "voices" names none for a character. */
  defaultVoice: z.string().min(1).optional(),
  /** `user`: puts the persona into the first user message, as Qwen2.5-Omni speaks only under its own system message. */
  personaIn: z.enum(['system', 'user']).default('system'),
  /** System message to send if the persona is in the user message. */
  system: z.string().min(1).optional(),
  /** Additional request fields, such as `{"temperature": 0.8}`. */
  extra: z.record(z.string(), z.unknown()).default({}),
});

export type OpenaiChatAudioSettings = z.infer<typeof settings>;

/** Chat completions with audio: GPT-4o Audio and its successors, Qwen-Omni on Alibaba Cloud, or vLLM-Omni. */
export const adapter: Adapter<OmniModel, OpenaiChatAudioSettings> = {
  settings,
  callPolicy: () => ({ concurrency: 8, timeouts: { betweenBytesMs: 30_000 } }),
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
  // OpenAI's models refuse a conversation without any audio.
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

/** Moves the persona to where the model expects it. */
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
