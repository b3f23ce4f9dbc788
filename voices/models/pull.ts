import { mkdir, rename, rm, stat, statfs, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { hashFile, writeFileAtomic } from '../runtime/files.ts';
import { takeProcessLock } from '../runtime/process-lock.ts';
import type { CatalogueDownload, CatalogueModel } from './catalogue.ts';
import { download, type DownloadOptions } from './download.ts';
import type { HttpClient } from './http-get.ts';
import {
  describeFiles,
  findInstalled,
  modelsFolder,
  pinsPath,
  readPins,
  recordPath,
  type InstalledRecord,
} from './installed.ts';
import { ModelError } from './model-error.ts';
import { unpack } from './unpack.ts';

export interface PullOptions extends Pick<DownloadOptions, 'signal' | 'wait' | 'onRetry'> {
  readonly client: HttpClient;
  readonly dataDir: string;
  /** `FROM=TO`: for addresses that begin with FROM, TO is tried first. */
  readonly mirrors: readonly string[];
  /** Downloads the model again even if it is installed. */
  readonly again?: boolean;
  onProgress?(
    file: string,
    progress: { readonly done: number; readonly of: number | undefined; readonly already: number },
  ): void;
  /** Prints one line for the user. */
  onNote?(text: string): void;
  /** Free bytes on the disk of a folder. Default: those the system reports. */
  freeBytes?(folder: string): Promise<number>;
}

/** Upper bound of an archive's unpacked size, as a multiple of its packed size: weights hardly compress. */
const unpackedTimes = 3;
const spareBytes = 2 ** 24;

/**
 * Installs the weights of a model: downloads, verifies, unpacks, and moves everything into place in one step, so that a
 * model is either complete or absent. Resumes what a killed run left. Resolves to true if there was something to do.
 * Throws a `ModelError`.
 */
export async function pullModel(model: CatalogueModel, options: PullOptions): Promise<boolean> {
  const { dataDir, again = false } = options;
  if (model.downloads.length === 0) {
    const detail = `${model.id}: ${model.unpublished ?? 'the catalogue has no download for it.'}`;
    throw new ModelError('model_not_published', detail);
  }
  if (!again && findInstalled(dataDir, model) !== undefined) return false;
  const folder = modelsFolder(dataDir);
  const loading = path.join(folder, '.loading', model.id);
  await mkdir(loading, { recursive: true, mode: 0o700 });
  using _lock = await lockModel(loading, model);
  await checkDisk(model, loading, options);
  const staged = path.join(loading, 'staged');
  await rm(staged, { recursive: true, force: true });
  await mkdir(staged, { recursive: true, mode: 0o700 });
  const downloads: InstalledRecord['downloads'] = [];
  for (const each of model.downloads) {
    downloads.push(await fetchOne(each, { loading, staged }, options));
  }
  const record: InstalledRecord = { id: model.id, downloads, files: await describeFiles(staged, model) };
  await writeFile(recordPath(staged), `${JSON.stringify(record, undefined, 2)}\n`, { mode: 0o600 });
  await putIntoPlace(staged, path.join(folder, model.id), loading);
  await rm(loading, { recursive: true, force: true });
  return true;
}

/** Removes a model and any partial download of it. Throws `model_not_installed` if there is neither. */
export async function removeModel(model: CatalogueModel, dataDir: string): Promise<void> {
  const folder = path.join(modelsFolder(dataDir), model.id);
  const loading = path.join(modelsFolder(dataDir), '.loading', model.id);
  const there = await Promise.all([folder, loading].map((place) => stat(place).catch(() => undefined)));
  if (there.every((found) => found === undefined)) {
    throw new ModelError('model_not_installed', `${model.id} is not installed.`);
  }
  await mkdir(loading, { recursive: true, mode: 0o700 });
  using _lock = await lockModel(loading, model);
  for (const place of [folder, loading]) await rm(place, { recursive: true, force: true });
}

function lockModel(loading: string, { id }: CatalogueModel): Promise<Disposable> {
  return takeProcessLock(`${loading}.lock`, (holder) => {
    return new ModelError('model_in_use', `${holder} is using ${id}. Wait for it to finish, or stop it.`);
  });
}

async function fetchOne(
  wanted: CatalogueDownload,
  { loading, staged }: { readonly loading: string; readonly staged: string },
  options: PullOptions,
): Promise<InstalledRecord['downloads'][number]> {
  const { file, keep } = wanted;
  const known = wanted.sha256 === '' ? pinOf(wanted, options.dataDir) : wanted.sha256;
  const target = path.join(loading, file);
  await mkdir(path.dirname(target), { recursive: true, mode: 0o700 });
  // A run that was killed later on has already downloaded it.
  const kept = known === '' ? undefined : await hashFile(target).catch(() => undefined);
  const isThere = kept !== undefined && kept === known;
  const sha256 = isThere
    ? kept
    : await download({
        ...options,
        urls: withMirrors(wanted.urls, options.mirrors),
        bytes: wanted.bytes,
        sha256: known,
        target,
        onProgress: (progress) => options.onProgress?.(file, progress),
      });
  try {
    if (keep === undefined) await rename(target, await placeIn(staged, file));
    else await unpack(target, staged, keep, options);
  } catch (thrown) {
    // An archive that cannot be unpacked will not unpack next time either.
    if (thrown instanceof ModelError && thrown.code === 'model_corrupt') await rm(target, { force: true });
    throw thrown;
  }
  if (known === '') await pin(wanted, sha256, options);
  return { file, sha256, pinned: wanted.sha256 === '' };
}

async function placeIn(folder: string, file: string): Promise<string> {
  const place = path.join(folder, file);
  await mkdir(path.dirname(place), { recursive: true, mode: 0o700 });
  return place;
}

function pinOf({ urls }: CatalogueDownload, dataDir: string): string {
  return readPins(dataDir)[urls[0] ?? ''] ?? '';
}

async function pin({ urls, file }: CatalogueDownload, sha256: string, options: PullOptions): Promise<void> {
  const place = pinsPath(options.dataDir);
  const pins = { ...readPins(options.dataDir), [urls[0] ?? '']: sha256 };
  await writeFileAtomic(place, `${JSON.stringify(pins, undefined, 2)}\n`, 0o600);
  options.onNote?.(
    `No public source states the SHA-256 of ${file}. This download has ${sha256}; from now on, only that hash is accepted.`,
  );
}

/** Mirror addresses first, then the publishers'. */
export function withMirrors(urls: readonly string[], mirrors: readonly string[]): string[] {
  const pairs = mirrors.map((mirror) => mirror.split('=', 2) as [string, string | undefined]);
  const mirrored = urls.flatMap((url) =>
    pairs.flatMap(([from, to]) => (to !== undefined && url.startsWith(from) ? [to + url.slice(from.length)] : [])),
  );
  return [...mirrored, ...urls];
}

/** Throws `model_disk_full` if the weights, archives also unpacked, do not fit on the disk. */
async function checkDisk({ id, downloads }: CatalogueModel, folder: string, options: PullOptions): Promise<void> {
  const free = await (options.freeBytes?.(folder) ?? freeBytesOf(folder));
  const left = await Promise.all(
    downloads.map(async ({ file, bytes = 0, keep }) => {
      const here = await Promise.all(
        [file, `${file}.part`].map((name) => stat(path.join(folder, name)).catch(() => undefined)),
      );
      // A sparse file takes only the space that was written.
      const taken = here.reduce((sum, found) => sum + (found?.blocks ?? 0) * 512, 0);
      return Math.max(0, bytes - taken) + (keep === undefined ? 0 : unpackedTimes * bytes);
    }),
  );
  const needed = left.reduce((sum, bytes) => sum + bytes, spareBytes);
  if (free >= needed) return;
  const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(0);
  const detail = `${id} needs ${megabytes(needed)} MB, and ${folder} has ${megabytes(free)} MB free. Free some space, or point DRAMATIS_DATA_DIR at another disk.`;
  throw new ModelError('model_disk_full', detail);
}

async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/** Replaces a model by renaming: the old one, if any, stays until the new one can take its place. */
async function putIntoPlace(staged: string, place: string, loading: string): Promise<void> {
  const old = path.join(loading, 'old');
  await rm(old, { recursive: true, force: true });
  await rename(place, old).catch((fault: unknown) => {
    if (!(fault instanceof Error && 'code' in fault && fault.code === 'ENOENT')) throw fault;
  });
  await rename(staged, place);
}
