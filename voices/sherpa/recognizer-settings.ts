import { z } from 'zod';
import { weightsSchema } from '../models/weights.ts';
import { languageTag, languageTags } from '../text/language-tags.ts';
import { whisperLanguages } from '../text/whisper-languages.ts';
import { familyFiles, machineSettings, modelOptions, sampleRate } from './settings.ts';

/** For recognizers without punctuation: CT-Transformer (Chinese, English) or CNN-BiLSTM (English, with capitals). */
const punctuationSchema = z.discriminatedUnion('family', [
  z.strictObject({ family: z.literal('ct-transformer'), files: z.strictObject({ model: weightsSchema }) }),
  z.strictObject({
    family: z.literal('cnn-bilstm'),
    files: z.strictObject({ model: weightsSchema, vocabulary: weightsSchema }),
  }),
]);

export type PunctuationSettings = z.infer<typeof punctuationSchema>;

const common = {
  ...machineSettings,
  /** BCP 47 primary tags of the languages the model understands, if they differ from its family's. */
  languages: languageTags.optional(),
  punctuation: punctuationSchema.optional(),
};
/** Language spoken; detected by the model unless given. */
const language = languageTag.optional();

const family = <const Name extends string, Files>(name: Name, files: z.ZodType<Files>) =>
  z.strictObject({ family: z.literal(name), files, ...common });

export const recognizerSettings = z.discriminatedUnion('family', [
  family('streaming-zipformer', familyFiles(['encoder', 'decoder', 'joiner', 'tokens'])),
  family('streaming-paraformer', familyFiles(['encoder', 'decoder', 'tokens'])),
  family('sense-voice', familyFiles(['model', 'tokens'])).extend({ language }),
  // Large models keep their weights in separate files, which are checked too.
  family('whisper', familyFiles(['encoder', 'decoder', 'tokens'], ['encoderData', 'decoderData'])).extend({ language }),
  family('moonshine', familyFiles(['encoder', 'decoder', 'tokens'])),
]);

export type RecognizerSettings = z.infer<typeof recognizerSettings>;
type Family = RecognizerSettings['family'];

/** Languages that each family understands; empty if they depend on the model. */
const usualLanguages: Readonly<Record<Family, readonly string[]>> = {
  'streaming-zipformer': [],
  'streaming-paraformer': ['zh', 'en'],
  'sense-voice': ['zh', 'en', 'ja', 'ko', 'yue'],
  whisper: whisperLanguages,
  moonshine: ['en'],
};

export function languagesOf({ family, languages }: RecognizerSettings): readonly string[] {
  return languages ?? usualLanguages[family];
}

/** Returns true for streaming models, which decode during speech. */
export function isStreaming({ family }: RecognizerSettings): boolean {
  return family === 'streaming-zipformer' || family === 'streaming-paraformer';
}

/** Returns the configuration for sherpa-onnx, with the model files at `paths`. */
export function recognizerConfig(settings: RecognizerSettings, paths: Readonly<Record<string, string>>): object {
  const { tokens, ...models } = paths;
  return {
    featConfig: { sampleRate, featureDim: 80 },
    modelConfig: { ...modelOf(settings, models), tokens, ...modelOptions(settings) },
    decodingMethod: 'greedy_search',
    // The session does the endpointing.
    enableEndpoint: 0,
  };
}

function modelOf(settings: RecognizerSettings, models: Readonly<Record<string, string>>): object {
  switch (settings.family) {
    case 'streaming-zipformer':
      return { transducer: models };
    case 'streaming-paraformer':
      return { paraformer: models };
    case 'sense-voice':
      return { senseVoice: { ...models, language: settings.language ?? 'auto', useInverseTextNormalization: 1 } };
    case 'whisper':
      return {
        whisper: {
          encoder: models['encoder'],
          decoder: models['decoder'],
          language: settings.language ?? '',
          task: 'transcribe',
        },
      };
    case 'moonshine':
      return { moonshine: { encoder: models['encoder'], mergedDecoder: models['decoder'] } };
  }
}
