import { z } from 'zod';
import { addressOf, baseUrlSchema, bearer } from '../calls/base-url.ts';
import type { Adapter, EngineContext } from '../calls/context.ts';
import { badReply } from '../calls/http-faults.ts';
import { send } from '../calls/http.ts';
import type { PcmBlock } from '../calls/pcm-stream.ts';
import { sendForAudio } from '../calls/audio-response.ts';
import { EngineError, type CallOptions } from '../engine.ts';
import type { SpeechSynthesizer } from '../synthesizer.ts';
import { speakByPhrase, type RenderOptions } from '../synthesis/by-phrase.ts';
import { clipOf, defaultClipSchema, primaryTag } from '../synthesis/default-clip.ts';
import { openClips, type ReferenceClip } from '../synthesis/reference-clip.ts';

const spoken = ['zh', 'en', 'ja', 'ko', 'yue'] as const;
/** Rate of the silence that the server sends instead of failed speech; the models speak at other rates. */
const stumblingRate = 16_000;
/** Clip length that the server takes; it refuses other clips in the middle of its answer. */
const clipSeconds = { leastSeconds: 3, mostSeconds: 10 };

const settings = z.strictObject({
  /** URL of `api_v2.py`, such as `http://127.0.0.1:9880`. */
  baseUrl: baseUrlSchema,
  /** Folder with the clips on the server; default: the same path as here. */
  serverDirectory: z.string().min(1).optional(),
  defaultClip: defaultClipSchema.optional(),
  /** 1: sentence by sentence, best quality; 2: streamed as made; 3: in pieces of fixed length, roughest and soonest. */
  streamingMode: z.union([z.literal(0), z.literal(1), z.literal(2), z.literal(3)]).default(1),
  languages: z
    .array(z.enum(spoken))
    .readonly()
    .default([...spoken]),
  /** Additional request fields, such as `{"temperature": 0.8}`. */
  extra: z.record(z.string(), z.unknown()).default({}),
});

export type GptSovitsSettings = z.infer<typeof settings>;

/** GPT-SoVITS by its own `api_v2.py`, which reads clips from its own disk. Concurrent requests spoil each other. */
export const adapter: Adapter<SpeechSynthesizer, GptSovitsSettings> = {
  settings,
  // An abandoned request continues for a moment.
  callPolicy: () => ({ concurrency: 1, graceMs: 500, timeouts: { firstByteMs: 60_000 } }),
  clones: () => true,
  open(chosen, context) {
    const readClip = openClips(context.name, { ...clipSeconds, onServer: { directory: chosen.serverDirectory } });
    const renderer = {
      languages: chosen.languages,
      maxCharacters: 300,
      comesWhole: chosen.streamingMode < 2,
      async *render(text: string, options: RenderOptions): AsyncGenerator<PcmBlock> {
        const reference = clipOf(options.voice, chosen.defaultClip, context);
        const clip = await readClip(reference, options);
        const json = bodyOf(text, { ...clip, language: reference.language }, options, chosen);
        const request = { url: addressOf(chosen.baseUrl, '/tts'), json, headers: bearer(context.key) };
        for await (const block of sendForAudio(context, request, { sampleRate: 32_000 }, options)) {
          if (block.sampleRate === stumblingRate && block.samples.every((value) => value === 0)) {
            const detail = 'the server failed on this text and sent silence. Check its log.';
            throw new EngineError(context.name, 'ENGINE_BAD_REPLY', detail);
          }
          yield block;
        }
      },
    };
    return {
      ...speakByPhrase(renderer, context),
      check: (options: CallOptions) => check(chosen, context, options),
    };
  },
};

function bodyOf(
  text: string,
  reference: Pick<ReferenceClip, 'serverPath' | 'transcript'> & { readonly language: string },
  { language, speed }: RenderOptions,
  { streamingMode, extra }: GptSovitsSettings,
): Record<string, unknown> {
  return {
    text,
    text_lang: tagFor(language),
    ref_audio_path: reference.serverPath,
    prompt_text: reference.transcript,
    prompt_lang: tagFor(reference.language),
    // The text is one phrase already.
    text_split_method: 'cut0',
    media_type: 'wav',
    streaming_mode: streamingMode,
    ...(speed === 1 ? {} : { speed_factor: speed }),
    ...extra,
  };
}

/** The server's code for a language, lower-case because it compares literally; `auto` for one that it does not know. */
function tagFor(language: string | undefined): string {
  const tag = language === undefined ? '' : primaryTag(language);
  return spoken.find((known) => known === tag) ?? 'auto';
}

/** Checks the server, which has no health route: if it is up, it refuses a request without fields. */
async function check({ baseUrl }: GptSovitsSettings, context: EngineContext, options: CallOptions): Promise<string> {
  try {
    // A GET without parameters would be an internal error, as in a server that is broken.
    await send(context, { url: addressOf(baseUrl, '/tts'), json: {}, headers: bearer(context.key) }, options);
  } catch (cause) {
    if (cause instanceof EngineError && [400, 422].includes(cause.status ?? 0))
      return `${new URL(baseUrl).host} responds`;
    throw cause;
  }
  throw badReply(context, 'an unexpected response to an empty request');
}
