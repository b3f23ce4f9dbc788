import { z } from 'zod';
import { languageTags } from '../text/language-tags.ts';
import { defaultClipSchema } from '../synthesis/default-clip.ts';
import { familyFiles, machineSettings, modelOptions } from './settings.ts';

const common = {
  ...machineSettings,
  /** BCP 47 primary tags of the languages the model speaks, if they differ from its family's. */
  languages: languageTags.optional(),
};
/** Speaker number used if the requested voice is not a number; for models with built-in voices. */
const defaultVoice = z.number().int().min(0).default(0);
/** Settings of voice-cloning models. */
const cloning = {
  defaultClip: defaultClipSchema.optional(),
  /** Flow-matching steps: more sound better and take longer. */
  steps: z.number().int().min(1).max(64).optional(),
};

export const synthesizerSettings = z.discriminatedUnion('family', [
  z.strictObject({
    family: z.literal('vits'),
    files: familyFiles(['model', 'tokens'], ['lexicon', 'dataDir']),
    ...common,
    defaultVoice,
  }),
  z.strictObject({
    family: z.literal('matcha'),
    files: familyFiles(['acousticModel', 'vocoder', 'tokens'], ['lexicon', 'dataDir']),
    ...common,
    defaultVoice,
  }),
  z.strictObject({
    family: z.literal('kokoro'),
    files: familyFiles(['model', 'voices', 'tokens'], ['dataDir', 'lexicon', 'secondLexicon']),
    ...common,
    defaultVoice,
  }),
  z.strictObject({
    family: z.literal('zipvoice'),
    files: familyFiles(['encoder', 'decoder', 'vocoder', 'tokens'], ['lexicon', 'dataDir']),
    ...common,
    ...cloning,
  }),
  z.strictObject({
    family: z.literal('pocket-tts'),
    files: familyFiles(['lmFlow', 'lmMain', 'encoder', 'decoder', 'textConditioner', 'vocabJson', 'tokenScoresJson']),
    ...common,
    ...cloning,
  }),
]);

export type SynthesizerSettings = z.infer<typeof synthesizerSettings>;
type Family = SynthesizerSettings['family'];

/** Languages that each family speaks; empty if they depend on the model. */
const usualLanguages: Readonly<Record<Family, readonly string[]>> = {
  vits: [],
  matcha: [],
  kokoro: ['en', 'zh'],
  zipvoice: ['zh', 'en'],
  'pocket-tts': ['en'],
};

export function languagesOf({ family, languages }: SynthesizerSettings): readonly string[] {
  return languages ?? usualLanguages[family];
}

/** Returns true for models that speak only with the voice of a reference clip. */
export function isCloner({ family }: SynthesizerSettings): boolean {
  return family === 'zipvoice' || family === 'pocket-tts';
}

/** Returns the configuration for sherpa-onnx, with the model files at `paths`. */
export function synthesizerConfig(settings: SynthesizerSettings, paths: Readonly<Record<string, string>>): object {
  return { model: { ...modelOf(settings, paths), ...modelOptions(settings) }, maxNumSentences: 1 };
}

function modelOf({ family }: SynthesizerSettings, paths: Readonly<Record<string, string>>): object {
  switch (family) {
    case 'vits':
      return { vits: paths };
    case 'matcha':
      return { matcha: paths };
    case 'kokoro': {
      const { lexicon, secondLexicon, ...others } = paths;
      const lexicons = [lexicon, secondLexicon].filter((file) => file !== undefined);
      return { kokoro: { ...others, lexicon: lexicons.join(',') } };
    }
    case 'zipvoice':
      return { zipvoice: paths };
    case 'pocket-tts':
      return { pocket: paths };
  }
}
