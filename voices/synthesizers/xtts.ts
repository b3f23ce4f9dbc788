import { z } from 'zod';
import { addressOf, baseUrlSchema, bearer } from '../calls/base-url.ts';
import type { RequestOptions } from '../calls/calls.ts';
import type { Adapter, EngineContext } from '../calls/context.ts';
import { badReply } from '../calls/http-faults.ts';
import { sendForJson, wavForm, type HttpRequest } from '../calls/http.ts';
import type { PcmBlock } from '../calls/pcm-stream.ts';
import { sendForAudio } from '../calls/audio-response.ts';
import { EngineError, type CallOptions } from '../engine.ts';
import type { ReferenceVoice, SpeechSynthesizer, Voice } from '../synthesizer.ts';
import { speakByPhrase, type RenderOptions } from '../synthesis/by-phrase.ts';
import { primaryTag } from '../synthesis/default-clip.ts';
import { openClips, type ReferenceClip } from '../synthesis/reference-clip.ts';

/** Languages of XTTS v2, as BCP 47 primary tags. */
const spoken = 'en es fr de it pt pl tr ru nl cs ar zh ja hu ko hi'.split(' ');

const settings = z.strictObject({
  /** Such as `http://127.0.0.1:8000` (coqui) or `http://127.0.0.1:8020` (daswer123). */
  baseUrl: baseUrlSchema,
  /** `coqui`: coqui-ai/xtts-streaming-server; `daswer123`: daswer123/xtts-api-server. */
  server: z.enum(['coqui', 'daswer123']).default('coqui'),
  /** daswer123 only: folder with the clips on the server; default: the same path as here. */
  serverDirectory: z.string().min(1).optional(),
  /** Voice used if the server lacks the requested one; default: the first of its voices. */
  defaultVoice: z.string().min(1).optional(),
  /** Code of the server for Chinese: older ones use `zh`. */
  chinese: z.enum(['zh-cn', 'zh']).default('zh-cn'),
});

export type XttsSettings = z.infer<typeof settings>;

/** XTTS v2 behind one of its two servers. Both take one request at a time; an abandoned one continues for a moment. */
export const adapter: Adapter<SpeechSynthesizer, XttsSettings> = {
  settings,
  callPolicy: () => ({ concurrency: 1, graceMs: 500 }),
  clones: () => true,
  open(chosen, context) {
    const site: Site = { chosen, context };
    const requestFor = chosen.server === 'coqui' ? openCoqui(site) : openDaswer123(site);
    const renderer = {
      languages: spoken,
      // From 250 characters on XTTS splits the text itself, and badly.
      maxCharacters: 230,
      comesWhole: false,
      async *render(text: string, options: RenderOptions): AsyncGenerator<PcmBlock> {
        const language = languageFor(options, chosen);
        const request = await requestFor({ text, language, voice: options.voice }, options);
        yield* sendForAudio(context, request, { sampleRate: 24_000 }, options);
      },
    };
    return { ...speakByPhrase(renderer, context), check: (options: CallOptions) => check(site, options) };
  },
};

interface Site {
  readonly chosen: XttsSettings;
  readonly context: EngineContext;
}

interface Order {
  readonly text: string;
  readonly language: string;
  readonly voice: Voice;
}

type RequestFor = (order: Order, options: RequestOptions) => Promise<HttpRequest>;

function languageFor({ language, voice }: RenderOptions, { chinese }: XttsSettings): string {
  const wanted = [language, voice.kind === 'reference' ? voice.language : undefined];
  const tag = wanted
    .flatMap((each) => (each === undefined ? [] : [primaryTag(each)]))
    .find((each) => spoken.includes(each));
  return tag === 'zh' ? chinese : (tag ?? 'en');
}

/** Voice as numbers, which are sent with every request. */
interface Latents {
  readonly gpt_cond_latent: readonly unknown[];
  readonly speaker_embedding: readonly unknown[];
}

/** Requests to coqui's server. It computes the numbers of a clip once; they stay valid, even after a restart. */
function openCoqui(site: Site): RequestFor {
  const { chosen, context } = site;
  const readClip = openClips(context.name, { mostSeconds: 30 });
  const cloned = new WeakMap<ReferenceClip, Latents>();
  const cloneOf = async (voice: ReferenceVoice, options: RequestOptions): Promise<Latents> => {
    const clip = await readClip(voice, options);
    const known = cloned.get(clip);
    if (known !== undefined) return known;
    const latents = await askFor(site, '/clone_speaker', options, wavForm({}, 'wav_file', clip.wav));
    if (!isLatents(latents)) throw badReply(context, 'no voice made from the clip');
    cloned.set(clip, latents);
    return latents;
  };
  const voices = remembered((options) => namedVoices(site, options));
  return async ({ text, language, voice }, options) => {
    const latents =
      voice.kind === 'reference' ? await cloneOf(voice, options) : oneOf(await voices(options), voice.id, site);
    const { gpt_cond_latent, speaker_embedding } = latents;
    return {
      url: addressOf(chosen.baseUrl, '/tts_stream'),
      headers: bearer(context.key),
      // The server accepts the number as a string only.
      json: { text, language, gpt_cond_latent, speaker_embedding, add_wav_header: true, stream_chunk_size: '20' },
    };
  };
}

async function namedVoices(site: Site, options: CallOptions): Promise<ReadonlyMap<string, Latents>> {
  const listed = await askFor(site, '/studio_speakers', options);
  if (typeof listed !== 'object' || listed === null) throw badReply(site.context, 'no list of its voices');
  return new Map(Object.entries(listed).filter((entry): entry is [string, Latents] => isLatents(entry[1])));
}

function isLatents(value: unknown): value is Latents {
  const { gpt_cond_latent, speaker_embedding } = (value ?? {}) as Record<string, unknown>;
  return Array.isArray(gpt_cond_latent) && Array.isArray(speaker_embedding);
}

/** Requests to daswer123's server, which reads clips from its own disk, and has the voices of its folder by name. */
function openDaswer123(site: Site): RequestFor {
  const { chosen, context } = site;
  const readClip = openClips(context.name, { mostSeconds: 30, onServer: { directory: chosen.serverDirectory } });
  const voices = remembered(async (options) => {
    const listed = await askFor(site, '/speakers_list', options);
    if (!Array.isArray(listed)) throw badReply(context, 'no list of its voices');
    return new Map(listed.map((id) => [String(id), String(id)]));
  });
  return async ({ text, language, voice }, options) => {
    const speaker =
      voice.kind === 'reference'
        ? (await readClip(voice, options)).serverPath
        : oneOf(await voices(options), voice.id, site);
    const url = new URL(addressOf(chosen.baseUrl, '/tts_stream'));
    url.search = new URLSearchParams({ text, speaker_wav: speaker, language }).toString();
    return { url, headers: bearer(context.key) };
  };
}

function oneOf<Item>(voices: ReadonlyMap<string, Item>, id: string, { chosen, context }: Site): Item {
  const found = voices.get(id) ?? voices.get(chosen.defaultVoice ?? '') ?? voices.values().next().value;
  if (found !== undefined) return found;
  const detail = 'the server has no built-in voices. Set a clip for the character, or for all ("*"), in "references".';
  throw new EngineError(context.name, 'ENGINE_REFUSED', detail);
}

/** Remembers the first answer; a failure is not remembered. */
function remembered<Item>(ask: (options: CallOptions) => Promise<Item>): (options: CallOptions) => Promise<Item> {
  let known: { readonly item: Item } | undefined;
  return async (options) => (known ??= { item: await ask(options) }).item;
}

function askFor({ chosen, context }: Site, path: string, options: CallOptions, form?: FormData): Promise<unknown> {
  const url = addressOf(chosen.baseUrl, path);
  return sendForJson(context, { url, headers: bearer(context.key), ...(form && { form }) }, options);
}

async function check(site: Site, options: CallOptions): Promise<string> {
  const listed = await askFor(site, '/languages', options);
  if (!JSON.stringify(listed).includes('"en"')) throw badReply(site.context, 'no list of its languages');
  return `${new URL(site.chosen.baseUrl).host} is ${site.chosen.server}’s server of XTTS`;
}
