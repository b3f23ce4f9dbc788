import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { hashOf } from './weights.ts';
import type { CatalogueModel } from './catalogue.ts';
import { ModelError } from './model-error.ts';

const recordSchema = z.strictObject({
  id: z.string(),
  /** Downloaded files: their hashes, and whether each was pinned here because no public source states it. */
  downloads: z.array(z.strictObject({ file: z.string(), sha256: z.hash('sha256'), pinned: z.boolean() })),
  /** Files that the engine loads, by their name in the engine's settings; a folder's hash is that of `hashOf`. */
  files: z.record(
    z.string(),
    z.strictObject({ file: z.string(), bytes: z.number().int().min(0), sha256: z.hash('sha256') }),
  ),
});

/** Record of a model's verified weights on disk. */
export type InstalledRecord = z.infer<typeof recordSchema>;

const recordName = 'installed.json';

/** Folder of the models in a data folder. */
export function modelsFolder(dataDir: string): string {
  return path.resolve(dataDir, 'models');
}

/** Path of the record in a model's folder. */
export function recordPath(folder: string): string {
  return path.join(folder, recordName);
}

/**
 * Returns the record of an installed model, and its folder; undefined if it is not installed as the catalogue now
 * describes it, or a file is missing or has another size. Fast: checks no hashes, which `verifyModel` and the engine
 * that loads the weights do.
 */
export function findInstalled(
  dataDir: string,
  model: CatalogueModel,
): { readonly folder: string; readonly record: InstalledRecord } | undefined {
  const folder = path.join(modelsFolder(dataDir), model.id);
  let record: InstalledRecord;
  try {
    record = recordSchema.parse(JSON.parse(readFileSync(recordPath(folder), 'utf8')));
  } catch {
    return undefined;
  }
  const isWhole = Object.entries(model.files).every(([name, file]) => {
    const known = record.files[name];
    const found = known?.file === file ? statSync(path.join(folder, file), { throwIfNoEntry: false }) : undefined;
    return found !== undefined && (found.isDirectory() || found.size === known?.bytes);
  });
  const isCurrent = model.downloads.every(({ file, sha256 }) => {
    const known = record.downloads.find((each) => each.file === file);
    return known !== undefined && (sha256 === '' || known.sha256 === sha256);
  });
  return isWhole && isCurrent ? { folder, record } : undefined;
}

/** Hashes every file of an installed model again. Throws `model_not_installed` or `model_corrupt`. */
export async function verifyModel(dataDir: string, model: CatalogueModel): Promise<InstalledRecord> {
  const installed = findInstalled(dataDir, model);
  if (installed === undefined) {
    const folder = path.join(modelsFolder(dataDir), model.id);
    const [code, what] = existsSync(folder)
      ? (['model_corrupt', 'is incomplete'] as const)
      : (['model_not_installed', 'is not installed'] as const);
    throw new ModelError(code, `${model.id} ${what}. Install it with \`dramatis models pull ${model.id}\`.`);
  }
  const { folder, record } = installed;
  for (const { file, sha256 } of Object.values(record.files)) {
    const found = await hashOf(path.join(folder, file)).catch((cause: unknown) => {
      throw new ModelError('model_corrupt', `${model.id}: ${file} cannot be read. Pull the model again.`, cause);
    });
    if (found.sha256 !== sha256) {
      const detail = `${model.id}: ${file} has the SHA-256 ${found.sha256}, not ${sha256}. Reinstall it with \`dramatis models pull ${model.id} --again\`.`;
      throw new ModelError('model_corrupt', detail);
    }
  }
  return record;
}

/** Hashes and measures the files that the engine loads. Throws `model_corrupt` if one is missing. */
export async function describeFiles(folder: string, model: CatalogueModel): Promise<InstalledRecord['files']> {
  const entries = Object.entries(model.files).map(async ([name, file]) => {
    const found = await hashOf(path.join(folder, file)).catch((cause: unknown) => {
      throw new ModelError('model_corrupt', `The download of ${model.id} lacks ${file}: it is another version.`, cause);
    });
    return [name, { file, ...found }] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

const pinsSchema = z.record(z.string(), z.hash('sha256'));

/** Hashes of downloads without one in the catalogue, as first seen on this machine, by address. */
export function readPins(dataDir: string): Readonly<Record<string, string>> {
  const file = pinsPath(dataDir);
  if (!existsSync(file)) return {};
  try {
    return pinsSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (cause) {
    // Never treated as empty: a pinned file must not be trusted again silently.
    const advice = 'Restore it, or delete it to trust the next download.';
    throw new ModelError('model_catalogue_invalid', `${file} cannot be read. ${advice}`, cause);
  }
}

export function pinsPath(dataDir: string): string {
  return path.join(modelsFolder(dataDir), 'pins.json');
}
