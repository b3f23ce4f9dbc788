import { z } from 'zod';
import { baseUrlSchema } from '../calls/base-url.ts';
import type { Adapter, EngineContext } from '../calls/context.ts';
import { badReply } from '../calls/http-faults.ts';
import { textIn, type InputTensor } from '../calls/triton/triton-tensors.ts';
import { checkTriton, openTriton } from '../calls/triton/triton.ts';
import { EngineError, type CallOptions } from '../engine.ts';
import { languageTag, languageTags } from '../text/language-tags.ts';
import type { SpeechRecognizer } from '../recognizer.ts';
import { recognizeByPiece, type PieceTranscript } from '../recognition/by-piece.ts';
import { whisperLanguages } from '../text/whisper-languages.ts';

const settings = z.strictObject({
  /** URL of the gRPC port, such as `http://127.0.0.1:8001`. */
  baseUrl: baseUrlSchema,
  /** Name in the model repository: `infer_bls` (Whisper of k2-fsa/sherpa), `sensevoice`, `infer_pipeline` (FunASR). */
  model: z.string().min(1),
  /** Language if the session does not know it: a BCP 47 primary tag. */
  language: languageTag.optional(),
  /** Languages that the model understands; default: Whisper's. */
  languages: languageTags.default(whisperLanguages),
  /** Silence after which the utterance may be over, in milliseconds. */
  pauseMs: z.number().int().min(32).max(2_000).default(128),
});

export type TritonRecognizerSettings = z.infer<typeof settings>;

/** Whisper, SenseVoice, Paraformer and others on NVIDIA's Triton; each model gets the inputs that it declares. */
export const adapter: Adapter<SpeechRecognizer, TritonRecognizerSettings> = {
  settings,
  callPolicy: () => ({ concurrency: 32, timeouts: { firstByteMs: 30_000 } }),
  open(chosen, context) {
    const server = openTriton(chosen, context);
    let wanted: readonly string[] | undefined;
    const decoder = {
      languages: chosen.languages,
      partials: false,
      pauseMs: chosen.pauseMs,
      async decode(
        samples: Float32Array,
        { signal, language = chosen.language }: CallOptions & { readonly language?: string | undefined },
      ): Promise<PieceTranscript> {
        wanted ??= await server.inputNames({ signal });
        const inputs = inputsFor(wanted, samples, language?.toLowerCase().split('-')[0], context);
        let text: string | undefined;
        for await (const answer of server.infer(inputs, transcripts, { signal })) {
          text = textIn(answer, transcripts, context);
        }
        if (text === undefined) throw badReply(context, 'no transcript');
        return { text };
      },
    };
    return {
      ...recognizeByPiece(decoder, context),
      async check(options) {
        const found = await checkTriton(server, chosen, context, options);
        wanted ??= await server.inputNames(options);
        inputsFor(wanted, new Float32Array(0), chosen.language, context);
        return found;
      },
      async warm(options) {
        wanted ??= await server.inputNames(options);
      },
      close: async () => server.close(),
    };
  },
};

const transcripts = 'TRANSCRIPTS';

/** SenseVoice's language codes, from its `model.py`; 0 means that it detects the language. */
const senseVoiceLanguages: Readonly<Record<string, number>> = { zh: 3, en: 4, yue: 7, ja: 11, ko: 12 };
/** SenseVoice's code for text with punctuation and numerals. */
const withPunctuation = 14;

function inputsFor(
  wanted: readonly string[],
  samples: Float32Array,
  language: string | undefined,
  context: EngineContext,
): readonly InputTensor[] {
  const known: Readonly<Record<string, InputTensor['data']>> = {
    WAV: samples,
    WAV_LENS: Int32Array.of(samples.length),
    // For Whisper. Without a language its output begins with the detected one.
    TEXT_PREFIX:
      language === undefined
        ? '<|startoftranscript|>'
        : `<|startoftranscript|><|${language}|><|transcribe|><|notimestamps|>`,
    LANGUAGE: Int32Array.of(senseVoiceLanguages[language ?? ''] ?? 0),
    TEXT_NORM: Int32Array.of(withPunctuation),
  };
  return wanted.map((name) => {
    const data = known[name];
    if (name === 'DECODER_INPUT_IDS') {
      const detail = `the model takes tokens, not speech and text. Set ${context.settingNames.model} to "infer_bls", which serves it.`;
      throw new EngineError(context.name, 'ENGINE_REFUSED', detail);
    }
    if (data === undefined) throw badReply(context, `a model with the input "${name}", which is not supported`);
    return { name, data };
  });
}
