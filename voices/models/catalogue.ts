import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { ModelError } from './model-error.ts';

/** A name inside a model's folder: no way out of it. */
const insideSchema = z
  .string()
  .max(200)
  .regex(/^[\w-][\w.-]*(\/[\w-][\w.-]*)*$/, 'a path inside the folder of the model, with forward slashes');

const downloadSchema = z
  .strictObject({
    /** What the file is called in the model's folder. */
    file: insideSchema,
    /** The same file in several places, tried in this order. */
    urls: z.array(z.url({ protocol: /^https?$/ })).min(1),
    /** Where a public source states it. */
    bytes: z.number().int().positive().optional(),
    /** Empty where no public source states it: what comes first is then trusted and pinned. */
    sha256: z.string().regex(/^([0-9a-f]{64})?$/),
    /** Of a `.tar.bz2`: what to keep of it, less its outermost folder; a folder ends with a slash. */
    keep: z.array(z.string().regex(/^[\w-][\w.-]*(\/[\w-][\w.-]*)*\/?$/)).optional(),
  })
  .refine(({ file, keep }) => (keep === undefined) !== file.endsWith('.tar.bz2'), '"keep" goes with archives');

const modelSchema = z.strictObject({
  id: z
    .string()
    .max(64)
    .regex(/^[a-z0-9]+([.-][a-z0-9]+)*$/),
  title: z.string().min(1),
  /** What it is for, in a few words. */
  use: z.string().min(1),
  role: z.enum(['recognizer', 'mind', 'synthesizer', 'turns', 'speakers', 'quality', 'punctuation', 'diarization']),
  /** BCP 47 primary tags; none where the model does not care. */
  languages: z.array(z.string().regex(/^[a-z]{2,3}$/)),
  licence: z.string().min(1),
  downloads: z.array(downloadSchema),
  /** Why there is nothing to download, and what to do instead. */
  unpublished: z.string().min(1).optional(),
  /** What each file is to the engine: path inside the model's folder, by its name in the engine's settings. */
  files: z.record(z.string(), insideSchema),
  /** The rest of the engine's settings. */
  engine: z.looseObject({ kind: z.string().min(1) }).optional(),
  /** Place in the order in which `serve --auto` chooses, 1 first; it never chooses what has none: what clones, or speaks one language. */
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

/** The catalogue that comes with Dramatis. */
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
    throw new ModelError(
      'model_catalogue_invalid',
      `${file} is no catalogue of models (${why}). Check --model-catalogue.`,
      cause,
    );
  }
}

/** One of them. Throws `model_unknown`. */
export function findModel(catalogue: readonly CatalogueModel[], id: string): CatalogueModel {
  const found = catalogue.find((model) => model.id === id);
  if (found !== undefined) return found;
  throw new ModelError('model_unknown', `There is no model "${id}". \`dramatis models list\` lists them.`);
}

/** Bytes to download, as far as they are known. */
export function downloadBytes({ downloads }: CatalogueModel): number | undefined {
  if (downloads.length === 0 || downloads.some(({ bytes }) => bytes === undefined)) return undefined;
  return downloads.reduce((sum, { bytes = 0 }) => sum + bytes, 0);
}
