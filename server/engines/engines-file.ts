import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { careSchema } from '../../voices/calls/call-policy.ts';
import { voiceIdSchema } from '../../voices/library/record.ts';
import { consentSchema } from '../../voices/synthesis/default-clip.ts';
import { ConfigError } from '../config/config.ts';

const engineName = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/i, 'letters, digits, dots and hyphens');
/** A character's id, or `female`, `male`, `neutral` for all of that gender, or `*` for everybody. */
const whom = z.string().min(1);
const chain = z.union([
  z
    .string()
    .min(1)
    .transform((name) => [name]),
  z.array(z.string().min(1)).min(1),
]);

/** What every engine may say; the rest is checked by its adapter. */
const engineSchema = z.looseObject({
  /** Absent: this changes the engine of that name in the preset. */
  kind: z.string().min(1).optional(),
  /** The environment variable that holds the key. The key itself has no place in a file. */
  apiKeyEnv: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'the name of an environment variable, not the key itself')
    .optional(),
  /** The engine's own voices, by whom they speak for. */
  voices: z.record(whom, z.string().min(1)).optional(),
  ...careSchema.shape,
});

const clipSchema = z.strictObject({
  /** A WAV of 3 to 10 seconds, one speaker, no noise; relative to this file. */
  wav: z.string().min(1),
  /** What is said in it, to the letter. */
  transcript: z.string().min(1),
  /** BCP 47 tag. */
  language: z.string().regex(/^[a-z]{2,3}(-[A-Za-z0-9]+)*$/),
  /** Who allowed the voice to be cloned, and how that is known. */
  consent: consentSchema,
});

/** What tells whether a user who pauses has finished. */
const turnsSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('prosody') }),
  z.strictObject({
    kind: z.literal('smart-turn'),
    /** The ONNX file of smart-turn v3, relative to this file. */
    model: z.string().min(1),
    /** Of that file, where it is not the known one. */
    sha256: z.hash('sha256').optional(),
  }),
]);
/** A voice of the library by its id, which has all of that. */
const libraryVoiceSchema = z.strictObject({ voice: voiceIdSchema });

const referenceSchema = z
  .unknown()
  .transform((value, context): z.infer<typeof clipSchema | typeof libraryVoiceSchema> => {
    const isNamed = typeof value === 'object' && value !== null && 'voice' in value;
    const parsed = (isNamed ? libraryVoiceSchema : clipSchema).safeParse(value);
    if (parsed.success) return parsed.data;
    for (const issue of parsed.error.issues)
      context.issues.push({ ...issue, input: value } as (typeof context.issues)[number]);
    return z.NEVER;
  });

/** Every kind of turn detector. */
export const turnKinds = turnsSchema.options.map(({ shape }) => shape.kind.value);

const stages = {
  /** Names of engines, the first that works serves: of `engines`, or `moonshine`, `retrieval`, `embedded`. */
  recognizer: chain.optional(),
  mind: chain.optional(),
  synthesizer: chain.optional(),
  /** One that hears and speaks by itself, in place of the three. */
  omni: chain.optional(),
};

const enginesFileSchema = z.strictObject({
  $schema: z.string().optional(),
  /** What this file builds on; what it says itself counts. */
  preset: z.string().min(1).optional(),
  engines: z.record(engineName, engineSchema).default({}),
  ...stages,
  turns: turnsSchema.optional(),
  /** Voices to clone. */
  references: z.record(whom, referenceSchema).default({}),
});

/** A preset is an engines file that says where it comes from. */
const presetSchema = enginesFileSchema.omit({ preset: true }).extend({
  title: z.string().min(1),
  /** What must run for it, in a few words. */
  needs: z.string().min(1),
  /** Models of the paper that are no longer served, and what the preset runs instead. */
  historical: z.array(z.strictObject({ model: z.string(), ended: z.iso.date(), successor: z.string() })).default([]),
});

export type EngineSettings = z.infer<typeof engineSchema>;
export type EnginesFile = z.infer<typeof enginesFileSchema>;
export type Preset = z.infer<typeof presetSchema>;
export type Turns = z.infer<typeof turnsSchema>;
/** A clip to clone; `voice` is set where it comes from the library. */
export type Reference = z.infer<typeof clipSchema> & { readonly voice?: string };

const presetsFolder = path.join(import.meta.dirname, 'presets');

/** Ids of the systems of SpeechRole's Table 2. */
export const presetIds = [
  'xtts',
  'cosyvoice2',
  'e2-tts',
  'f5-tts',
  'fireredtts',
  'spark-tts',
  'gpt-sovits',
  'maskgct',
  'alibaba-cloud',
  'gpt-4o-audio',
  'qwen2.5-omni',
] as const;

/** Engines that load weights, `{ "path", "sha256" }`, in place of asking a server. */
const localKinds: readonly unknown[] = ['sherpa-onnx', 'node-llama-cpp'];

/** Reads an engines file; clips and weights are given by absolute paths. Throws `ConfigError`. */
export function readEnginesFile(file: string): EnginesFile {
  const place = path.resolve(file);
  const parsed = parse(enginesFileSchema, place);
  const here = (relative: string): string => path.resolve(path.dirname(place), relative);
  const references = Object.entries(parsed.references).map(([who, reference]) => [
    who,
    'wav' in reference ? { ...reference, wav: here(reference.wav) } : reference,
  ]);
  const engines = Object.entries(parsed.engines).map(([name, engine]) => [
    name,
    localKinds.includes(engine.kind) ? withPlaces(engine, path.dirname(place)) : engine,
  ]);
  const { turns } = parsed;
  return {
    ...parsed,
    engines: Object.fromEntries(engines),
    references: Object.fromEntries(references),
    ...(turns?.kind === 'smart-turn' ? { turns: { ...turns, model: here(turns.model) } } : {}),
  };
}

/** Settings with every `path` in them from this folder on. */
function withPlaces(settings: object, folder: string): object {
  const entries = Object.entries(settings).map(([key, value]: [string, unknown]) => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return [key, withPlaces(value, folder)];
    return [key, key === 'path' && typeof value === 'string' ? path.resolve(folder, value) : value];
  });
  return Object.fromEntries(entries) as object;
}

/** Reads a preset that comes with Dramatis. Throws `ConfigError` that lists them where there is none of that name. */
export function readPreset(id: string): Preset {
  if (!(presetIds as readonly string[]).includes(id)) {
    throw new ConfigError(`There is no preset "${id}". There are: ${presetIds.join(', ')}.`);
  }
  return parse(presetSchema, path.join(presetsFolder, `${id}.json`));
}

function parse<Schema extends z.ZodType>(schema: Schema, place: string): z.infer<Schema> {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(place, 'utf8'));
  } catch (cause) {
    // The parser's own message repeats the text, which may hold a key after all.
    const why =
      cause instanceof SyntaxError
        ? 'not valid JSON; a comma or quote too many or too few?'
        : 'cannot be read; check the path';
    throw new ConfigError(`${place}: ${why}`);
  }
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw new ConfigError(`${place}: ${issueOf(parsed.error)}`);
  return parsed.data;
}

/** The first thing that is wrong, without its value. */
export function issueOf(error: z.ZodError): string {
  const [issue] = error.issues;
  const where = issue?.path.map(String).join('.') ?? '';
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys : [];
  if (unknown.some((key) => /^(?:api_?)?(?:key|token|secret)$/i.test(key))) {
    return `"${unknown.join('", "')}" has no place in a file: put it into an environment variable and name that in "apiKeyEnv"`;
  }
  if (unknown.length > 0) return `${where === '' ? '' : `${where}: `}there is no setting "${unknown.join('", "')}"`;
  return `${where === '' ? '' : `${where}: `}${issue?.message ?? 'invalid'}`;
}
