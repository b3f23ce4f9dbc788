import { z } from 'zod';
import { addressOf, baseUrlSchema, bearer } from '../calls/base-url.ts';
import type { Adapter, EngineContext } from '../calls/context.ts';
import { badReply } from '../calls/http-faults.ts';
import { send, sendForJson, wavForm } from '../calls/http.ts';
import type { PcmBlock } from '../calls/pcm-stream.ts';
import { audioOf } from '../calls/audio-response.ts';
import { styleInstruction } from '../synthesis/emotion-instruction.ts';
import { EngineError, type CallOptions } from '../engine.ts';
import { languageTags } from '../text/language-tags.ts';
import type { SpeechSynthesizer } from '../synthesizer.ts';
import { speakByPhrase, type RenderOptions } from '../synthesis/by-phrase.ts';
import { clipOf, defaultClipSchema, primaryTag } from '../synthesis/default-clip.ts';
import { wavBytes } from '../dsp/wav.ts';
import { openClips } from '../synthesis/reference-clip.ts';

/** System prompt that CosyVoice3 expects before anything else. */
const opening = 'You are a helpful assistant.';
const endOfPrompt = '<|endofprompt|>';
/** Rate of clips, in hertz. Every version accepts it: some need at least 16 kHz, some 24. */
const clipRate = 24_000;

const settings = z.strictObject({
  /** URL of `runtime/python/fastapi/server.py`, such as `http://127.0.0.1:50000`. */
  baseUrl: baseUrlSchema,
  /** Version of CosyVoice on the server: 1 speaks at 22.05 kHz, and is the only one with built-in voices. */
  version: z.union([z.literal(1), z.literal(2), z.literal(3)]).default(2),
  /** Version 1 only: built-in voice to use if the server lacks the requested one. */
  defaultVoice: z.string().min(1).optional(),
  defaultClip: defaultClipSchema.optional(),
  /** Speaking instructions, such as "whisper"; versions 2 and 3 only, instead of the clip's transcript. */
  instructions: z.string().min(1).optional(),
  languages: languageTags.default(['zh', 'en', 'ja', 'ko', 'yue']),
});

export type CosyvoiceSettings = z.infer<typeof settings>;

/** CosyVoice by its own FastAPI server, which streams raw PCM, and reports every failure after its status 200. */
export const adapter: Adapter<SpeechSynthesizer, CosyvoiceSettings> = {
  settings,
  callPolicy: () => ({ concurrency: 2, timeouts: { firstByteMs: 60_000, betweenBytesMs: 30_000 } }),
  clones: () => true,
  open(chosen, context) {
    const readClip = openClips(context.name, { sampleRate: clipRate, mostSeconds: 30 });
    const renderer = {
      languages: chosen.languages,
      maxCharacters: 200,
      comesWhole: true,
      async *render(text: string, options: RenderOptions): AsyncGenerator<PcmBlock> {
        const { voice, signal } = options;
        if (chosen.version === 1 && voice.kind === 'preset' && chosen.defaultVoice !== undefined) {
          yield* ownVoice(text, voice.id, { chosen, context, signal });
          return;
        }
        const reference = clipOf(voice, chosen.defaultClip, context);
        const clip = await readClip(reference, options);
        const said = { transcript: clip.transcript, language: reference.language };
        const { path, fields } = orderOf(text, said, options, chosen);
        yield* ask(path, wavForm(fields, 'prompt_wav', clip.wav), { chosen, context, signal });
      },
    };
    return {
      ...speakByPhrase(renderer, context),
      check: ({ signal }: CallOptions) => check({ chosen, context, signal }),
    };
  },
};

interface Asking extends CallOptions {
  readonly chosen: CosyvoiceSettings;
  readonly context: EngineContext;
}

interface Order {
  readonly path: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** Chooses route and fields. A clip in another language gives its voice only: its transcript would colour speech. */
function orderOf(
  text: string,
  reference: { readonly transcript: string; readonly language: string },
  { language, emotion }: Pick<RenderOptions, 'language' | 'emotion'>,
  { version, instructions }: CosyvoiceSettings,
): Order {
  const manner = styleInstruction(emotion, instructions) ?? '';
  const prefix = version === 3 ? `${opening} ` : '';
  if (manner !== '' && version > 1) {
    // Without its end mark the instruction would be spoken too.
    return {
      path: '/inference_instruct2',
      fields: { tts_text: text, instruct_text: `${prefix}${manner}${endOfPrompt}` },
    };
  }
  const isForeign = language !== undefined && primaryTag(language) !== primaryTag(reference.language);
  if (isForeign || reference.transcript === '') {
    const said = version === 3 ? `${opening}${endOfPrompt}${text}` : text;
    return { path: '/inference_cross_lingual', fields: { tts_text: said } };
  }
  const prompt = version === 3 ? `${opening}${endOfPrompt}${reference.transcript}` : reference.transcript;
  return { path: '/inference_zero_shot', fields: { tts_text: text, prompt_text: prompt } };
}

/** Speaks with a built-in voice. The server has no list of them: an unknown one shows by a reply without audio. */
async function* ownVoice(text: string, voiceId: string, asking: Asking): AsyncGenerator<PcmBlock> {
  const { defaultVoice = voiceId } = asking.chosen;
  const speakAs = (id: string): AsyncGenerator<PcmBlock> =>
    ask('/inference_sft', wavForm({ tts_text: text, spk_id: id }), asking);
  if (voiceId === defaultVoice) return yield* speakAs(voiceId);
  let isHeard = false;
  try {
    for await (const block of speakAs(voiceId)) {
      isHeard = true;
      yield block;
    }
  } catch (cause) {
    asking.signal.throwIfAborted();
    if (isHeard || !isMute(cause)) throw cause;
    yield* speakAs(defaultVoice);
  }
}

const muteDetail =
  'the server responded with 200 and no audio. Check its log. CosyVoice since December 2025 cannot read any clip ("Invalid file"): use its commit d985100, or Triton.';

function isMute(cause: unknown): boolean {
  return cause instanceof EngineError && cause.detail === muteDetail;
}

async function* ask(path: string, form: FormData, { chosen, context, signal }: Asking): AsyncGenerator<PcmBlock> {
  const url = addressOf(chosen.baseUrl, path);
  const reply = await send(context, { url, form, headers: bearer(context.key) }, { signal });
  let isHeard = false;
  try {
    for await (const block of audioOf(context, reply, { sampleRate: chosen.version === 1 ? 22_050 : 24_000 })) {
      isHeard = true;
      yield block;
    }
  } catch (cause) {
    const isCut = cause instanceof EngineError && cause.code === 'ENGINE_UNAVAILABLE';
    if (signal.aborted || isHeard || !isCut) throw cause;
  }
  if (!isHeard) throw new EngineError(context.name, 'ENGINE_BAD_REPLY', muteDetail);
}

/**
 * Checks the server by FastAPI's OpenAPI document, because it has no health route. Then has it speak one word, with a
 * clip of noise if it clones: a server that cannot read clips shows it only then.
 */
async function check(asking: Asking): Promise<string> {
  const { chosen, context, signal } = asking;
  const url = addressOf(chosen.baseUrl, '/openapi.json');
  const described = await sendForJson(context, { url, headers: bearer(context.key) }, { signal });
  if (!JSON.stringify(described).includes('/inference_zero_shot'))
    throw badReply(context, 'the routes of another server');
  for await (const _block of oneWord(asking)) break;
  return `${new URL(chosen.baseUrl).host} is CosyVoice’s server, and speaks`;
}

async function* oneWord(asking: Asking): AsyncGenerator<PcmBlock> {
  const { version, defaultVoice } = asking.chosen;
  if (version === 1 && defaultVoice !== undefined) return yield* ownVoice('Yes.', defaultVoice, asking);
  const clip = await wavBytes(
    new Float32Array(3 * clipRate).map(() => 0.1 * (Math.random() - 0.5)),
    clipRate,
  );
  const said = { transcript: 'Good evening, my friend.', language: 'en' };
  const { path, fields } = orderOf('Yes.', said, { language: 'en' }, asking.chosen);
  yield* ask(path, wavForm(fields, 'prompt_wav', clip), asking);
}
