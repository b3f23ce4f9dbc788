import { z } from 'zod';
import { addressOf, baseUrlSchema, bearer } from '../calls/base-url.ts';
import type { Adapter, EngineContext } from '../calls/context.ts';
import { badReply } from '../calls/http-faults.ts';
import { sendForJson } from '../calls/http.ts';
import { EngineError, type CallOptions } from '../engine.ts';
import { languageTags } from '../text/language-tags.ts';
import type { SpeechSynthesizer } from '../synthesizer.ts';
import { adapter as openaiSpeech, type OpenaiSpeechSettings } from './openai-speech.ts';

const settings = z.strictObject({
  /** Base URL without `/v1`, such as `http://127.0.0.1:8094`. */
  baseUrl: baseUrlSchema,
  model: z.string().min(1).optional(),
  /** Voice used if a character has neither a clip nor a voice that the sidecar knows. */
  defaultVoice: z.string().min(1).optional(),
  /** False: the sidecar makes the whole clip before it sends any. */
  streams: z.boolean().default(true),
  /** BCP 47 primary tags of the languages that the model speaks. */
  languages: languageTags.default([]),
  /** Additional request fields, such as `{"seed": 3}`. */
  extra: z.record(z.string(), z.unknown()).default({}),
});

export type SidecarSettings = z.infer<typeof settings>;

/** Any model behind a sidecar (`sidecar/openapi.json`): OpenAI's speech route, and a health route. */
export const adapter: Adapter<SpeechSynthesizer, SidecarSettings> = {
  settings,
  callPolicy: (chosen) => openaiSpeech.callPolicy?.(asSpeech(chosen)) ?? {},
  clones: () => true,
  open: (chosen, context) => ({
    ...openaiSpeech.open(asSpeech(chosen), context),
    check: (options: CallOptions) => check(chosen, context, options),
  }),
};

function asSpeech(chosen: SidecarSettings): OpenaiSpeechSettings {
  return openaiSpeech.settings.parse({ ...chosen, baseUrl: addressOf(chosen.baseUrl, '/v1'), dialect: 'sidecar' });
}

async function check({ baseUrl }: SidecarSettings, context: EngineContext, options: CallOptions): Promise<string> {
  const request = { url: addressOf(baseUrl, '/health'), headers: bearer(context.key) };
  const health = await sendForJson(context, request, options).catch((cause: unknown) => {
    if (!(cause instanceof EngineError) || cause.status !== 503) throw cause;
    throw new EngineError(context.name, 'ENGINE_UNAVAILABLE', 'the sidecar is still loading its model. Wait a moment.');
  });
  const { status, engine, languages } = (health ?? {}) as Record<string, unknown>;
  if (status !== 'ok' || typeof engine !== 'string') throw badReply(context, 'no health status');
  const spoken = Array.isArray(languages) && languages.length > 0 ? `, which speaks ${languages.join(', ')}` : '';
  return `${new URL(baseUrl).host} runs ${engine}${spoken}`;
}
