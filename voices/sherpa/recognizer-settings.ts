import { z } from 'zod';
import { weightsSchema } from '../models/weights.ts';
import { languageTag, languageTags } from '../text/language-tags.ts';
import { whisperLanguages } from '../text/whisper-languages.ts';
import { familyFiles, machineSettings, modelOptions, sampleRate } from './settings.ts';

/**
 * Punctuation models for recognizers that output none: CT-Transformer (Chinese and English) or CNN-BiLSTM (English,
 * with capitals).
 */
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
    // Large models keep their weights in separate files, which are checked too.
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
