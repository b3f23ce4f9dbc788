import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Card, DialoguePair } from './card.ts';
import { CharacterError } from './character-error.ts';

/** All the files of a pack. */
export interface PackFiles {
  readonly card: Card;
  readonly lines: readonly DialoguePair[];
  /** The card it was imported from, as JSON, so that an export loses nothing. */
  readonly source?: string;
  readonly picture?: Uint8Array;
  /** Files that the card's assets name, by path. */
  readonly files?: ReadonlyMap<string, Uint8Array>;
}

/**
 * Writes a pack as `<parent>/<id>/`, whole or not at all: the folder is made beside and renamed. Throws `CharacterError` where
 * one of that id is there and `replace` is not set.
 */
export async function writePack(parent: string, pack: PackFiles, replace = false): Promise<string> {
  const folder = path.join(parent, pack.card.id);
  await mkdir(parent, { recursive: true });
  const made = await mkdtemp(path.join(parent, '.new-'));
  try {
    await writeFile(path.join(made, 'card.json'), `${JSON.stringify(pack.card, undefined, 2)}\n`);
    await writeFile(path.join(made, 'lines.jsonl'), pack.lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    if (pack.source !== undefined) await writeFile(path.join(made, sourceName), pack.source);
    if (pack.picture !== undefined) await writeFile(path.join(made, pictureName), pack.picture);
    for (const [name, bytes] of pack.files ?? []) {
      const target = path.join(made, assetsName, ...name.split('/'));
      await mkdir(path.dirname(target), { recursive: true });
      await writeFile(target, bytes);
    }
    if (replace) await moveAside(folder, `${made}.old`);
    await rename(made, folder);
    await rm(`${made}.old`, { recursive: true, force: true });
  } catch (cause) {
    await rm(made, { recursive: true, force: true });
    if (cause instanceof Error && 'code' in cause && (cause.code === 'ENOTEMPTY' || cause.code === 'EEXIST'))
      throw new CharacterError(`${folder}: there is a character of this id; give --replace, or another --id`, {
        cause,
      });
    throw cause;
  }
  return folder;
}

/** The card a pack was imported from, as JSON; undefined for packs of our own. */
export async function readSource(folder: string): Promise<string | undefined> {
  return readFile(path.join(folder, sourceName), 'utf8').catch(nothing);
}

/** The picture of a pack, a PNG; undefined where it has none. */
export async function readPicture(folder: string): Promise<Uint8Array | undefined> {
  return readFile(path.join(folder, pictureName)).catch(nothing);
}

export function hasPicture(folder: string): boolean {
  return existsSync(path.join(folder, pictureName));
}

/** Puts a PNG into a pack, whole or not at all. */
export async function writePicture(folder: string, picture: Uint8Array): Promise<void> {
  const made = path.join(folder, `.${pictureName}`);
  await writeFile(made, picture);
  await rename(made, path.join(folder, pictureName));
}

/** The files of a card's assets, by path inside its archive. */
export async function readAssets(folder: string): Promise<ReadonlyMap<string, Uint8Array>> {
  const top = path.join(folder, assetsName);
  const entries = await readdir(top, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
  const nameOf = (file: string): string => path.relative(top, file).split(path.sep).join('/');
  return new Map(await Promise.all(files.map(async (file) => [nameOf(file), await readFile(file)] as const)));
}

const assetsName = 'assets';
const sourceName = 'source.json';
const pictureName = 'picture.png';

/** A folder that is replaced is there until the new one is whole; names with a dot are no packs. */
async function moveAside(folder: string, aside: string): Promise<void> {
  await rename(folder, aside).catch((cause: unknown) => {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'ENOENT')) throw cause;
  });
}

function nothing(): undefined {
  return undefined;
}
