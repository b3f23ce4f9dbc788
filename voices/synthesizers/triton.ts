import { z } from 'zod';
import { baseUrlSchema } from '../calls/base-url.ts';
import type { Adapter, EngineContext } from '../calls/context.ts';
import type { PcmBlock } from '../calls/pcm-stream.ts';
import { samplesIn, type WireAnswer } from '../calls/triton/triton-tensors.ts';
import { checkTriton, openTriton } from '../calls/triton/triton.ts';
import { EngineError } from '../engine.ts';
import { languageTags } from '../text/language-tags.ts';
import type { ReferenceVoice, SpeechSynthesizer } from '../synthesizer.ts';
import { speakByPhrase, type RenderOptions } from '../synthesis/by-phrase.ts';
import { crossFaded } from '../synthesis/cross-fade.ts';
import { clipOf, defaultClipSchema } from '../synthesis/default-clip.ts';
import { openClips } from '../synthesis/reference-clip.ts';

interface Dialect {
  readonly model: string;
  /** Rates in hertz: of the clip that it takes, and of its output. A wrong rate is not refused, but sounds wrong. */
  readonly clipRate: number;
  readonly sampleRate: number;
  readonly mostSeconds: number;
  readonly maxCharacters: number;
  readonly comesWhole: boolean;
  /** The transcript as the model joins it with the text. */
  textBefore(transcript: string): string;
  /** Overlap of each answer with the end of the one before, in milliseconds. */
  readonly overlapMs: number;
  readonly concurrency: number;
}

const usual = {
  clipRate: 16_000,
  sampleRate: 24_000,
  mostSeconds: 30,
  maxCharacters: 200,
  overlapMs: 0,
  textBefore: (transcript: string) => transcript,
} as const;

const dialects = {
  cosyvoice: { ...usual, model: 'cosyvoice2', comesWhole: false, concurrency: 4 },
  // More than two concurrent requests have lost the ends of sentences (F5-TTS#1039).
  f5: {
    ...usual,
    model: 'f5_tts',
    clipRate: 24_000,
    mostSeconds: 12,
    comesWhole: true,
    concurrency: 2,
    // Its server puts nothing between transcript and text, unlike F5-TTS's own code.
    textBefore: endedSentence,
  },
  // Its language model stops at about 10 s, which is 60 Chinese characters.
  spark: {
    ...usual,
    model: 'spark_tts',
    sampleRate: 16_000,
    maxCharacters: 60,
    overlapMs: 100,
    comesWhole: false,
    concurrency: 4,
  },
  zipvoice: { ...usual, model: 'zipvoice', comesWhole: true, concurrency: 4 },
} as const satisfies Readonly<Record<string, Dialect>>;

type DialectName = keyof typeof dialects;

const settings = z.strictObject({
  /** URL of the gRPC port, such as `http://127.0.0.1:8001`. */
  baseUrl: baseUrlSchema,
  /** Family of models on the server. */
  dialect: z.enum(Object.keys(dialects) as [DialectName, ...DialectName[]]).default('cosyvoice'),
  /** Name in the model repository; default: that in the family's own repository. */
  model: z.string().min(1).optional(),
  defaultClip: defaultClipSchema.optional(),
  /** Maximum length of a text in UTF-16 units; longer phrases are split. */
  maxCharacters: z.number().int().min(20).max(1_000).optional(),
  languages: languageTags.default(['zh', 'en']),
});

export type TritonSynthesizerSettings = z.infer<typeof settings>;

/** CosyVoice2 and 3, F5-TTS, Spark-TTS and ZipVoice, as their own repositories deploy them on NVIDIA's Triton. */
export const adapter: Adapter<SpeechSynthesizer, TritonSynthesizerSettings> = {
  settings,
  callPolicy: ({ dialect }) => ({
    concurrency: dialects[dialect].concurrency,
    ...(dialects[dialect].comesWhole && { timeouts: { firstByteMs: 60_000 } }),
  }),
  clones: () => true,
  open(chosen, context) {
    const dialect: Dialect = dialects[chosen.dialect];
    const { model = dialect.model, maxCharacters = dialect.maxCharacters } = chosen;
    const server = openTriton({ baseUrl: chosen.baseUrl, model }, context);
    const readClip = openClips(context.name, { sampleRate: dialect.clipRate, mostSeconds: dialect.mostSeconds });
    const renderer = {
      languages: chosen.languages,
      maxCharacters,
      comesWhole: dialect.comesWhole,
      async *render(text: string, options: RenderOptions): AsyncGenerator<PcmBlock> {
        const reference = clipOf(options.voice, chosen.defaultClip, context);
        const clip = await readClip(reference, options);
        needTranscript({ ...reference, transcript: clip.transcript }, context);
        const inputs = [
          { name: 'reference_wav', data: clip.samples },
          { name: 'reference_wav_len', data: Int32Array.of(clip.samples.length) },
          { name: 'reference_text', data: dialect.textBefore(clip.transcript) },
          { name: 'target_text', data: text },
        ];
        const answers = server.infer(inputs, 'waveform', { signal: options.signal });
        yield* crossFaded(waveforms(answers, context), dialect.sampleRate, dialect.overlapMs);
      },
    };
    return {
      ...speakByPhrase(renderer, context),
      check: (options) => checkTriton(server, { baseUrl: chosen.baseUrl, model }, context, options),
      // Connects only: models that are ready are warm.
      warm: async (options) => void (await server.isReady(options)),
      close: async () => server.close(),
    };
  },
};

/** The transcript with the end of a sentence, so that its last word does not run into the text. */
function endedSentence(transcript: string): string {
  const text = transcript.trim();
  if (/[。！？]$/u.test(text)) return text;
  if (/[.!?]$/u.test(text)) return `${text} `;
  return /\p{Script=Han}$/u.test(text) ? `${text}。` : `${text}. `;
}

async function* waveforms(answers: AsyncIterable<WireAnswer>, context: EngineContext): AsyncGenerator<Float32Array> {
  for await (const answer of answers) yield samplesIn(answer, 'waveform', context);
}

/** Without a transcript these models cannot estimate the length of speech, and fail or divide by zero. */
function needTranscript({ transcript, wavPath }: ReferenceVoice, { name }: EngineContext): void {
  if (transcript.trim() !== '') return;
  const detail = `the reference clip ${wavPath} has no transcript. Set "transcript".`;
  throw new EngineError(name, 'ENGINE_REFUSED', detail);
}
