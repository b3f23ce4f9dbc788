import { z } from 'zod';
import type { FlagFacts } from '../../server/terminal/flags.ts';
import { textConfigSchema, textFlags, type TextFlagsOf } from '../text/config.ts';

/** Documents looked up for a character before each message: kinds of documents, and how many of each. */
export const retrievalSources = {
  none: {},
  raw: { raw: 1 },
  expr1: { experience: 1 },
  expr3: { experience: 3 },
  conv1: { conversation: 1 },
  'expr3-conv1': { experience: 3, conversation: 1 },
  'expr10-conv1': { experience: 10, conversation: 1 },
} as const satisfies Record<string, Readonly<Partial<Record<'raw' | 'experience' | 'conversation', number>>>>;

/** Each repeat has its own row in the table. */
export const mostRepeats = 10;

const sourceNames = Object.keys(retrievalSources) as [keyof typeof retrievalSources];

/** Configuration of a run of CoSER. */
export const coserConfigSchema = textConfigSchema
  .extend({
    /** Folder with a file a book, to look up what a character went through. */
    books: z.string().optional(),
    retrieval: z.enum(sourceNames).default('none'),
    /** Looks up the held-out plots too, as the released code does: the answer is among them. */
    leaky: z.boolean().default(false),
    /** Messages of the original that begin the scene. */
    continueFrom: z.number().int().min(0).default(0),
    /** `original`: who opens the original scene. `reference`: who says most in it, as coded. */
    firstSpeaker: z.enum(['original', 'reference']).default('original'),
    withoutThoughts: z.boolean().default(false),
    rounds: z.number().int().min(1).max(100).default(20),
    repeats: z.number().int().min(1).max(mostRepeats).default(1),
    /** `coser`: 100 − 5Σ + 1.5R within 0 to 100, as coded. `paper`: 100 − Σ + 1.5R. */
    lengthCorrection: z.enum(['coser', 'paper']).default('coser'),
    /** Leaves the names out of the transcript of the acted scene, as coded. */
    bareTranscript: z.boolean().default(false),
    /** Cuts replies where they begin to repeat themselves, for every actor. */
    cutRepetition: z.boolean().default(false),
  })
  .refine(({ retrieval, books }) => retrieval === 'none' || books !== undefined, {
    error: '--retrieval needs --books: the folder with a file a book.',
  });

export type CoserConfig = z.infer<typeof coserConfigSchema>;

/** Flags of `eval run --task coser`. */
export const coserFlags = {
  ...textFlags,
  data: { type: 'string', value: 'FILE', help: 'the test set: test_set.json' },
  environment: { type: 'string', value: 'URL#MODEL', help: 'model that narrates what happens around the characters' },
  'environment-key-env': { type: 'string', value: 'NAME', help: 'environment variable that contains its key' },
  'next-speaker': { type: 'string', value: 'URL#MODEL', help: 'model that chooses who speaks next' },
  'next-speaker-key-env': { type: 'string', value: 'NAME', help: 'environment variable that contains its key' },
  books: { type: 'string', value: 'DIR', help: 'a file a book, for --retrieval' },
  retrieval: { type: 'string', value: 'WHAT', help: `what characters recall: ${sourceNames.join(', ')}` },
  leaky: { type: 'boolean', help: 'let characters recall held-out plots too, as the released code does' },
  'continue-from': { type: 'string', value: 'K', help: 'begin with the first K messages of the original' },
  'first-speaker': { type: 'string', value: 'WHO', help: 'original (default): its first speaker; reference: as coded' },
  'without-thoughts': { type: 'boolean', help: 'ask for no inner thoughts' },
  rounds: { type: 'string', value: 'N', help: 'maximum number of messages of a scene (default 20)' },
  repeats: { type: 'string', value: 'N', help: 'how often each scene is acted (default 1)' },
  'length-correction': { type: 'string', value: 'HOW', help: 'coser (default) or paper' },
  'bare-transcript': { type: 'boolean', help: 'show the judge no names in the acted scene, as coded' },
  'cut-repetition': { type: 'boolean', help: 'cut replies that repeat themselves, for every actor' },
} as const satisfies Record<string, FlagFacts>;

/** Makes the configuration from the flags. */
export const coserOptions: TextFlagsOf<CoserConfig> = {
  schema: coserConfigSchema,
  flags: coserFlags,
  models: { environment: 'environment', 'next-speaker': 'next-speaker' },
};
