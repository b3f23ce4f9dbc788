import { z } from 'zod';
import { baseUrlSchema } from '../calls/base-url.ts';
import type { Adapter, EngineContext } from '../calls/context.ts';
import { fileOf, openGradioApp, type GradioApp, type GradioFile, type GradioInput } from '../calls/gradio.ts';
import { badReply } from '../calls/http-faults.ts';
import type { PcmBlock } from '../calls/pcm-stream.ts';
import { EngineError, type CallOptions } from '../engine.ts';
import { languageTags } from '../text/language-tags.ts';
import type { ReferenceVoice, SpeechSynthesizer } from '../synthesizer.ts';
import { readWav } from '../dsp/wav.ts';
import { speakByPhrase, type RenderOptions } from '../synthesis/by-phrase.ts';
import { clipOf, defaultClipSchema } from '../synthesis/default-clip.ts';
import { openClips, type ReferenceClip } from '../synthesis/reference-clip.ts';

/** Endpoints to look for in an app: those of F5-TTS and E2-TTS, Spark-TTS, FireRedTTS2, MaskGCT, and of simple apps. */
const usualEndpoints = ['basic_tts', 'voice_clone', 'dialogue_synthesis_function', 'inference', 'predict'];

const settings = z.strictObject({
  /** URL of the app, such as `http://127.0.0.1:7860`. */
  baseUrl: baseUrlSchema,
  /** Endpoint name on the page "Use via API"; default: one that is known, or the only one. */
  endpoint: z
    .string()
    .min(1)
    .transform((name) => name.replace(/^\//, ''))
    .optional(),
  /** Inputs by name or label; strings may hold `{text}`, `{transcript}`, `{language}`; `"{clip}"` is the clip. */
  inputs: z.record(z.string(), z.unknown()).default({}),
  defaultClip: defaultClipSchema.optional(),
  languages: languageTags.default([]),
});

export type GradioSettings = z.infer<typeof settings>;

/** Speech from the Gradio app of a model's demo. Such apps run one request at a time and send whole clips. */
export const adapter: Adapter<SpeechSynthesizer, GradioSettings> = {
  settings,
  // While it works, the app sends a keep-alive every 15 s.
  callPolicy: () => ({ concurrency: 1, graceMs: 500, timeouts: { firstByteMs: 60_000, betweenBytesMs: 30_000 } }),
  clones: () => true,
  open(chosen, context) {
    const app = openGradioApp(chosen.baseUrl, context);
    const readClip = openClips(context.name, { mostSeconds: 30 });
    const uploaded = new WeakMap<ReferenceClip, GradioFile>();
    const site: Site = { app, chosen, context };

    async function clipAtServer(clip: ReferenceClip, options: CallOptions): Promise<GradioFile> {
      const file = uploaded.get(clip) ?? (await app.upload(clip.wav, 'voice.wav', options));
      uploaded.set(clip, file);
      return file;
    }

    const renderer = {
      languages: chosen.languages,
      maxCharacters: 200,
      comesWhole: true,
      async *render(text: string, options: RenderOptions): AsyncGenerator<PcmBlock> {
        const reference = clipOf(options.voice, chosen.defaultClip, context);
        const clip = await readClip(reference, options);
        const { name, inputs } = await endpointOf(site, options);
        const file = await clipAtServer(clip, options);
        const data = fill(inputs, chosen.inputs, {
          ...options,
          text,
          reference: { ...reference, transcript: clip.transcript },
          file,
        });
        const result = await app.call(name, data, options).catch((cause: unknown) => {
          // A restarted server has lost its files.
          uploaded.delete(clip);
          throw cause;
        });
        const sound = fileOf(result);
        if (sound === undefined) throw badReply(context, 'no audio, probably because an input is missing');
        yield await readWav(await app.download(sound, options));
      },
    };
    return {
      ...speakByPhrase(renderer, context),
      async check(options: CallOptions) {
        return `${new URL(chosen.baseUrl).host} synthesizes with /${(await endpointOf(site, options)).name}`;
      },
    };
  },
};

interface Site {
  readonly app: GradioApp;
  readonly chosen: GradioSettings;
  readonly context: EngineContext;
}

async function endpointOf(
  { app, chosen, context }: Site,
  options: CallOptions,
): Promise<{ readonly name: string; readonly inputs: readonly GradioInput[] }> {
  const endpoints = await app.endpoints(options);
  const names = [...endpoints.keys()];
  const only = names.length === 1 ? names : [];
  const wanted = chosen.endpoint === undefined ? [...usualEndpoints, ...only] : [chosen.endpoint];
  const name = wanted.find((each) => endpoints.has(each));
  const inputs = endpoints.get(name ?? '');
  if (name !== undefined && inputs !== undefined) return { name, inputs };
  const listed = names.slice(0, 8).join(', ');
  const detail = `the app has no ${chosen.endpoint ?? 'known'} endpoint. It has ${listed}. Set "endpoint" of the engine "${context.name}".`;
  throw new EngineError(context.name, 'ENGINE_REFUSED', detail);
}

interface Said {
  readonly text: string;
  readonly reference: ReferenceVoice;
  readonly file: GradioFile;
  readonly language?: string | undefined;
  readonly speed: number;
}

/** Fills the inputs in order: with the configured value, otherwise by kind and label, or with the app's default. */
function fill(inputs: readonly GradioInput[], wishes: Readonly<Record<string, unknown>>, said: Said): unknown[] {
  const clip = { path: said.file.path, meta: { _type: 'gradio.FileData' }, orig_name: 'voice.wav' };
  let hasClip = false;
  let hasText = false;
  return inputs.map(({ label, name, component, byDefault }) => {
    const wish = wishes[name] ?? wishes[label];
    if (wish !== undefined) return wish === '{clip}' ? clip : filledIn(wish, said);
    const about = `${label} ${name}`;
    if (component === 'Audio') {
      if (hasClip) return null;
      hasClip = true;
      return clip;
    }
    if (component === 'Textbox' && /ref|prompt|transcript/i.test(about)) return said.reference.transcript;
    if (component === 'Textbox' && !hasText) {
      hasText = true;
      return said.text;
    }
    return /speed/i.test(about) && byDefault === 1 ? said.speed : byDefault;
  });
}

function filledIn(wish: unknown, { text, reference, language }: Said): unknown {
  if (typeof wish !== 'string') return wish;
  const values = { text, transcript: reference.transcript, language: language ?? reference.language };
  return wish.replaceAll(/\{(text|transcript|language)\}/g, (_, name: keyof typeof values) => values[name]);
}
