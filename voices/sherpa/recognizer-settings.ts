import { z } from 'zod';
import { weightsSchema } from '../models/weights.ts';
import { languageTag, languageTags } from '../text/language-tags.ts';
import { whisperLanguages } from '../text/whisper-languages.ts';
import { familyFiles, machineSettings, modelOptions, sampleRate } from './settings.ts';

/** Punctuation for recognizers that give none: CT-Transformer (Chinese and English) or CNN-BiLSTM (English, with capitals). */
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
  /** BCP 47 primary tags of what the model understands, where it is not as usual in its family. */
  languages: languageTags.optional(),
  punctuation: punctuationSchema.optional(),
};
/** What is spoken; the model finds out unless given. */
const language = languageTag.optional();

export const recognizerSettings = z.discriminatedUnion('family', [
  z.strictObject({
    family: z.literal('streaming-zipformer'),
    files: familyFiles(['encoder', 'decoder', 'joiner', 'tokens']),
    ...common,
  }),
  z.strictObject({
    family: z.literal('streaming-paraformer'),
    files: familyFiles(['encoder', 'decoder', 'tokens']),
    ...common,
  }),
  z.strictObject({
    family: z.literal('sense-voice'),
    files: familyFiles(['model', 'tokens']),
    ...common,
    language,
  }),
  z.strictObject({
    family: z.literal('whisper'),
    // The large ones keep their numbers in files beside, which are checked too.
    files: familyFiles(['encoder', 'decoder', 'tokens'], ['encoderData', 'decoderData']),
    ...common,
    language,
  }),
  z.strictObject({
    family: z.literal('moonshine'),
    files: familyFiles(['encoder', 'decoder', 'tokens']),
    ...common,
  }),
]);

export type RecognizerSettings = z.infer<typeof recognizerSettings>;
type Family = RecognizerSettings['family'];

/** What each family understands; none where that differs from model to model. */
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

/** Whether the model hears while somebody speaks. */
export function hearsAsItComes({ family }: RecognizerSettings): boolean {
  return family === 'streaming-zipformer' || family === 'streaming-paraformer';
}

/** The configuration that sherpa-onnx wants, with the weights at `paths`. */
export function recognizerConfig(settings: RecognizerSettings, paths: Readonly<Record<string, string>>): object {
  const { tokens, ...models } = paths;
  return {
    featConfig: { sampleRate, featureDim: 80 },
    modelConfig: { ...modelOf(settings, models), tokens, ...modelOptions(settings) },
    decodingMethod: 'greedy_search',
    // The session decides when somebody has finished.
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
