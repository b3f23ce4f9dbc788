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

const family = <const Name extends string, Files>(name: Name, files: z.ZodType<Files>) =>
  z.strictObject({ family: z.literal(name), files, ...common });
const pocketFiles = [
  'lmFlow',
  'lmMain',
  'encoder',
  'decoder',
  'textConditioner',
  'vocabJson',
  'tokenScoresJson',
] as const;

/** Rules that write telephone numbers, dates and numbers as words (`*.fst`), in the order in which they are applied. */
const ruleFiles = ['phoneRules', 'dateRules', 'numberRules'] as const;

export const synthesizerSettings = z.discriminatedUnion('family', [
  family('vits', familyFiles(['model', 'tokens'], ['lexicon', 'dataDir', ...ruleFiles])).extend({ defaultVoice }),
  family('matcha', familyFiles(['acousticModel', 'vocoder', 'tokens'], ['lexicon', 'dataDir', ...ruleFiles])).extend({
    defaultVoice,
  }),
  family(
    'kokoro',
    familyFiles(['model', 'voices', 'tokens'], ['dataDir', 'lexicon', 'secondLexicon', ...ruleFiles]),
  ).extend({
    defaultVoice,
  }),
  family('zipvoice', familyFiles(['encoder', 'decoder', 'vocoder', 'tokens'], ['lexicon', 'dataDir'])).extend(cloning),
  family('pocket-tts', familyFiles(pocketFiles)).extend(cloning),
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
  const { phoneRules, dateRules, numberRules, ...files } = paths;
  const rules = [phoneRules, dateRules, numberRules].filter((file) => file !== undefined);
  return {
    model: { ...modelOf(settings, files), ...modelOptions(settings) },
    ...(rules.length > 0 && { ruleFsts: rules.join(',') }),
    maxNumSentences: 1,
  };
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
