import { createHash } from 'node:crypto';
import { z } from 'zod';
import { addressOf, baseUrlSchema, bearer } from '../calls/base-url.ts';
import type { RequestOptions } from '../calls/calls.ts';
import type { Adapter, EngineContext } from '../calls/context.ts';
import { badReply } from '../calls/http-faults.ts';
import { sendForBytes, sendForJson, wavForm } from '../calls/http.ts';
import type { PcmBlock } from '../calls/pcm-stream.ts';
import { sendForAudio } from '../calls/audio-response.ts';
import { EngineError, type CallOptions } from '../engine.ts';
import { languageTags } from '../text/language-tags.ts';
import type { ReferenceVoice, SpeechSynthesizer, Voice } from '../synthesizer.ts';
import { speakByPhrase, type RenderOptions } from '../synthesis/by-phrase.ts';
import { openClips } from '../synthesis/reference-clip.ts';

const settings = z.strictObject({
  /** URL of `tools/api_server.py`, such as `http://127.0.0.1:8080`. */
  baseUrl: baseUrlSchema,
  /** Registered voice used if the server lacks the requested one; without it the server chooses any voice. */
  defaultVoice: z.string().min(1).optional(),
  /** Rate of its headerless stream, in hertz. */
  sampleRate: z.number().int().min(8_000).max(96_000).default(44_100),
  languages: languageTags.default(['en', 'zh', 'ja', 'de', 'fr', 'es', 'ko', 'ar', 'ru', 'nl', 'it', 'pl', 'pt']),
  /** Additional request fields, such as `{"temperature": 0.7}`. */
  extra: z.record(z.string(), z.unknown()).default({}),
});

export type FishSpeechSettings = z.infer<typeof settings>;

/** fish-speech by its own API server, which registers clips by id, and answers nothing else while it speaks. */
export const adapter: Adapter<SpeechSynthesizer, FishSpeechSettings> = {
  settings,
  callPolicy: () => ({ concurrency: 1, graceMs: 500, timeouts: { firstByteMs: 60_000, betweenBytesMs: 30_000 } }),
  clones: () => true,
  open(chosen, context) {
    const referenceFor = openReferences({ chosen, context });
    const renderer = {
      languages: chosen.languages,
      maxCharacters: 200,
      comesWhole: true,
      async *render(text: string, options: RenderOptions): AsyncGenerator<PcmBlock> {
        const reference_id = await referenceFor(options.voice, options);
        const json = {
          text,
          format: 'wav',
          // Labelled as a WAV, but raw PCM.
          streaming: true,
          ...(reference_id === undefined ? {} : { reference_id, use_memory_cache: 'on' }),
          ...chosen.extra,
        };
        const request = { url: addressOf(chosen.baseUrl, '/v1/tts'), json, headers: bearer(context.key) };
        yield* sendForAudio(context, request, { sampleRate: chosen.sampleRate }, options);
      },
    };
    return {
      ...speakByPhrase(renderer, context),
      check: (options: CallOptions) => check({ chosen, context }, options),
    };
  },
};

interface Site {
  readonly chosen: FishSpeechSettings;
  readonly context: EngineContext;
}

/** Returns a function that resolves a voice to its id on the server; undefined if the server may choose. */
function openReferences(site: Site): (voice: Voice, options: RequestOptions) => Promise<string | undefined> {
  const { chosen, context } = site;
  const readClip = openClips(context.name, { mostSeconds: 30 });

  async function register(voice: ReferenceVoice, options: RequestOptions): Promise<string> {
    const { wav, transcript } = await readClip(voice, options);
    if (transcript.trim() === '') {
      const detail = `the reference clip ${voice.wavPath} has no transcript. Set "transcript".`;
      throw new EngineError(context.name, 'ENGINE_REFUSED', detail);
    }
    const id = createHash('sha256').update(wav).update(transcript).digest('hex').slice(0, 24);
    // A server that was replaced has lost its clips, and would speak with any voice.
    if ((await listOf(site, options)).has(id)) return id;
    const form = wavForm({ id, text: transcript }, 'audio', wav);
    const add = (): Promise<Buffer> => sendForBytes(context, { ...asked(site, '/v1/references/add'), form }, options);
    await add().catch(async (cause: unknown) => {
      if (!(cause instanceof EngineError && cause.status === 409)) throw cause;
      // An empty folder is in its place.
      const json = { reference_id: id };
      await sendForBytes(context, { ...asked(site, '/v1/references/delete'), method: 'DELETE', json }, options);
      await add();
    });
    return id;
  }

  return async (voice, options) => {
    if (voice.kind === 'reference') return register(voice, options);
    // For an unknown name the server silently makes an empty voice.
    const listed = await listOf(site, options);
    return [voice.id, chosen.defaultVoice].find((id) => id !== undefined && listed.has(id));
  };
}

async function listOf(site: Site, options: CallOptions): Promise<ReadonlySet<string>> {
  const reply = await sendForJson(site.context, asked(site, '/v1/references/list'), options);
  const { reference_ids: ids } = (reply ?? {}) as Record<string, unknown>;
  if (!Array.isArray(ids)) throw badReply(site.context, 'no list of its voices');
  return new Set(ids.map(String));
}

/** Returns URL and headers of a request. Without the accept header the server answers in MessagePack. */
function asked(
  { chosen, context }: Site,
  path: string,
): { readonly url: string; readonly headers: Record<string, string> } {
  return {
    url: addressOf(chosen.baseUrl, path),
    headers: { accept: 'application/json', ...bearer(context.key) },
  };
}

async function check(site: Site, options: CallOptions): Promise<string> {
  const health = (await sendForJson(site.context, asked(site, '/v1/health'), options)) ?? {};
  const { status } = health as Record<string, unknown>;
  if (status !== 'ok') throw badReply(site.context, 'no health status');
  return `${new URL(site.chosen.baseUrl).host} is fish-speech’s server`;
}
