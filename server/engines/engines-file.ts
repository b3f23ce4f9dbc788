import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { callPolicySchema } from '../../voices/calls/call-policy.ts';
import { voiceIdSchema } from '../../voices/library/record.ts';
import { consentSchema } from '../../voices/synthesis/default-clip.ts';
import { ConfigError } from '../config/config.ts';

const engineName = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/i, 'letters, digits, dots and hyphens');
/** A character's id; `female`, `male` or `neutral` for all of that gender; or `*` for all. */
const whom = z.string().min(1);
const chain = z.union([
  z
    .string()
    .min(1)
    .transform((name) => [name]),
  z.array(z.string().min(1)).min(1),
]);

/** Settings common to all engines; the rest is checked by the adapter. */
const engineSchema = z.looseObject({
  /** If absent, this entry changes the preset's engine of that name. */
  kind: z.string().min(1).optional(),
  /** Environment variable that holds the key. The key itself does not belong in a file. */
  apiKeyEnv: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'the name of an environment variable, not the key itself')
    .optional(),
  /** The engine's own voices, by the characters that they are for. */
  voices: z.record(whom, z.string().min(1)).optional(),
  ...callPolicySchema.shape,
});

const clipSchema = z.strictObject({
  /** A WAV of 3 to 10 seconds, one speaker, no noise; relative to this file. */
  wav: z.string().min(1),
  /** Verbatim transcript of the clip. */
  transcript: z.string().min(1),
  /** BCP 47 tag. */
  language: z.string().regex(/^[a-z]{2,3}(-[A-Za-z0-9]+)*$/),
  /** The person who allowed the voice to be cloned, and the evidence. */
  consent: consentSchema,
});

/** Turn detector: decides whether a user who pauses has finished. */
const turnDetectorSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('prosody') }),
  z.strictObject({
    kind: z.literal('smart-turn'),
    /** ONNX file of smart-turn v3, relative to this file. */
    model: z.string().min(1),
    /** SHA-256 of that file, if it is not the known one. */
    sha256: z.hash('sha256').optional(),
  }),
]);
/** Id of a library voice, which has all of the above. */
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

export const turnDetectorKinds = turnDetectorSchema.options.map(({ shape }) => shape.kind.value);

const stages = {
  /** Engine names in the order in which they are tried: of `engines`, or `moonshine`, `retrieval`, `embedded`. */
  asr: chain.optional(),
  llm: chain.optional(),
  tts: chain.optional(),
  /** Speech-to-speech models, instead of the three stages. */
  omni: chain.optional(),
};

const enginesFileSchema = z.strictObject({
  $schema: z.string().optional(),
  /** Preset that this file is based on; settings in this file override it. */
  preset: z.string().min(1).optional(),
  engines: z.record(engineName, engineSchema).default({}),
  ...stages,
  turnDetector: turnDetectorSchema.optional(),
  /** Voices to clone. */
  references: z.record(whom, referenceSchema).default({}),
});

/** A preset is an engines file with a description. */
const presetSchema = enginesFileSchema.omit({ preset: true }).extend({
  title: z.string().min(1),
  /** Short description of the servers it needs. */
  needs: z.string().min(1),
  /** Models of the paper that are no longer available, and their replacements in the preset. */
  historical: z.array(z.strictObject({ model: z.string(), ended: z.iso.date(), successor: z.string() })).default([]),
});

export type EngineSettings = z.infer<typeof engineSchema>;
export type EnginesFile = z.infer<typeof enginesFileSchema>;
export type Preset = z.infer<typeof presetSchema>;
export type TurnDetection = z.infer<typeof turnDetectorSchema>;
/** A clip to clone; `voice` is set if it comes from the library. */
export type Reference = z.infer<typeof clipSchema> & { readonly voice?: string };

const presetsFolder = path.join(import.meta.dirname, 'presets');

/** Ids of the systems in SpeechRole's Table 2. */
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

/** Engines that load weights, `{ "path", "sha256" }`, instead of calling a server. */
const localKinds: readonly unknown[] = ['sherpa-onnx', 'node-llama-cpp'];

/** Reads an engines file; resolves clips and weights to absolute paths. Throws `ConfigError`. */
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
  const { turnDetector } = parsed;
  return {
    ...parsed,
    engines: Object.fromEntries(engines),
    references: Object.fromEntries(references),
    ...(turnDetector?.kind === 'smart-turn'
      ? { turnDetector: { ...turnDetector, model: here(turnDetector.model) } }
      : {}),
  };
}

/** Resolves every `path` in the settings relative to a folder. */
function withPlaces(settings: object, folder: string): object {
  const entries = Object.entries(settings).map(([key, value]: [string, unknown]) => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return [key, withPlaces(value, folder)];
    return [key, key === 'path' && typeof value === 'string' ? path.resolve(folder, value) : value];
  });
  return Object.fromEntries(entries) as object;
}

/** Reads a preset shipped with Dramatis. Throws a `ConfigError` that lists the presets if there is no such one. */
export function readPreset(id: string): Preset {
  if (!(presetIds as readonly string[]).includes(id)) {
    throw new ConfigError(`There is no preset "${id}". Known: ${presetIds.join(', ')}.`);
  }
  return parse(presetSchema, path.join(presetsFolder, `${id}.json`));
}

function parse<Schema extends z.ZodType>(schema: Schema, place: string): z.infer<Schema> {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(place, 'utf8'));
  } catch (cause) {
    // The parser's own message quotes the text, which might contain a key.
    const why =
      cause instanceof SyntaxError ? 'not valid JSON; check commas and quotes' : 'cannot be read; check the path';
    throw new ConfigError(`${place}: ${why}`);
  }
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw new ConfigError(`${place}: ${issueOf(parsed.error)}`);
  return parsed.data;
}

/** Describes the first issue, without the offending value. */
export function issueOf(error: z.ZodError): string {
  const [issue] = error.issues;
  const where = issue?.path.map(String).join('.') ?? '';
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys : [];
  if (unknown.some((key) => /^(?:api_?)?(?:key|token|secret)$/i.test(key))) {
    return `"${unknown.join('", "')}" must not be in a file: put it into an environment variable and name the variable in "apiKeyEnv"`;
  }
  if (unknown.length > 0) return `${where === '' ? '' : `${where}: `}unknown setting "${unknown.join('", "')}"`;
  return `${where === '' ? '' : `${where}: `}${issue?.message ?? 'invalid'}`;
}
