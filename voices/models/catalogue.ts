import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { ModelError } from './model-error.ts';

/** A relative path inside a model's folder that cannot escape it. */
const insideSchema = z
  .string()
  .max(200)
  .regex(/^[\w-][\w.-]*(\/[\w-][\w.-]*)*$/, 'a path inside the folder of the model, with forward slashes');

const downloadSchema = z
  .strictObject({
    /** Name of the file in the model's folder. */
    file: insideSchema,
    /** Addresses of the same file, tried in this order. */
    urls: z.array(z.url({ protocol: /^https?$/ })).min(1),
    /** Set if a public source states it. */
    bytes: z.number().int().positive().optional(),
    /** Empty if no public source states it: the first download is then trusted and its hash pinned. */
    sha256: z.string().regex(/^([0-9a-f]{64})?$/),
    /** Entries of a `.tar.bz2` to keep, without the outermost folder; a folder ends with a slash. */
    keep: z.array(z.string().regex(/^[\w-][\w.-]*(\/[\w-][\w.-]*)*\/?$/)).optional(),
  })
  .refine(({ file, keep }) => (keep === undefined) !== file.endsWith('.tar.bz2'), '"keep" is only valid for archives');

const modelSchema = z.strictObject({
  id: z
    .string()
    .max(64)
    .regex(/^[a-z0-9]+([.-][a-z0-9]+)*$/),
  title: z.string().min(1),
  /** Purpose, in a few words. */
  use: z.string().min(1),
  role: z.enum(['asr', 'llm', 'tts', 'turn-detector', 'speaker-encoder', 'quality', 'punctuation', 'diarization']),
  /** BCP 47 primary tags; empty if the model is language-independent. */
  languages: z.array(z.string().regex(/^[a-z]{2,3}$/)),
  licence: z.string().min(1),
  downloads: z.array(downloadSchema),
  /** Reason why there is nothing to download, and what to do instead. */
  unpublished: z.string().min(1).optional(),
  /** Paths inside the model's folder, by their name in the engine's settings. */
  files: z.record(z.string(), insideSchema),
  /** Other settings of the engine. */
  engine: z.looseObject({ kind: z.string().min(1) }).optional(),
  /** Rank in which `serve --auto` chooses, 1 first; none for models that clone, or speak one language only. */
  auto: z.number().int().positive().optional(),
});

const catalogueSchema = z.array(modelSchema).superRefine((models, context) => {
  const ids = models.map(({ id }) => id);
  for (const id of new Set(ids.filter((each, index) => ids.indexOf(each) !== index))) {
    context.addIssue({ code: 'custom', message: `two models are called ${id}` });
  }
});

export type CatalogueModel = z.infer<typeof modelSchema>;
export type CatalogueDownload = CatalogueModel['downloads'][number];

/** Path of the catalogue that comes with Dramatis. */
export const builtInCatalogue = path.join(import.meta.dirname, 'catalogue.json');

/** Reads a catalogue of models. Throws `model_catalogue_invalid`. */
export function readCatalogue(file = builtInCatalogue): readonly CatalogueModel[] {
  try {
    return catalogueSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (cause) {
    const why =
      cause instanceof z.ZodError
        ? cause.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ')
        : String(cause).replace(/^\w*Error: /, '');
    const detail = `${file} is not a valid model catalogue (${why}). Check --model-catalogue.`;
    throw new ModelError('model_catalogue_invalid', detail, cause);
  }
}

/** Returns the model with this id. Throws `model_unknown`. */
export function findModel(catalogue: readonly CatalogueModel[], id: string): CatalogueModel {
  const found = catalogue.find((model) => model.id === id);
  if (found !== undefined) return found;
  throw new ModelError('model_unknown', `There is no model "${id}". \`dramatis models list\` lists them.`);
}

/** Total bytes to download; undefined if any size is unknown. */
export function downloadBytes({ downloads }: CatalogueModel): number | undefined {
  if (downloads.length === 0 || downloads.some(({ bytes }) => bytes === undefined)) return undefined;
  return downloads.reduce((sum, { bytes = 0 }) => sum + bytes, 0);
}
