import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Card, DialoguePair } from './card.ts';
import { CharacterError } from './character-error.ts';

/** All files of a pack. */
export interface PackFiles {
  readonly card: Card;
  readonly lines: readonly DialoguePair[];
  /** JSON of the card it was imported from, so that an export loses nothing. */
  readonly source?: string;
  readonly picture?: Uint8Array;
  /** Files that the card's assets refer to, by path. */
  readonly files?: ReadonlyMap<string, Uint8Array>;
  /** Hash of the account that made it; none if the operator did. */
  readonly owner?: string | undefined;
}

/** Only the user of this process may read what others gave it. */
const privateFile = { mode: 0o600 };
const privateFolder = 0o700;

/**
 * Writes a pack as `<parent>/<id>/`, atomically: writes a temporary folder and renames it. Throws `CharacterError` if
 * the id exists and `replace` is not set.
 */
export async function writePack(parent: string, pack: PackFiles, replace = false): Promise<string> {
  const folder = path.join(parent, pack.card.id);
  await mkdir(parent, { recursive: true, mode: privateFolder });
  const made = await mkdtemp(path.join(parent, '.new-'));
  try {
    await writeFile(path.join(made, 'card.json'), `${JSON.stringify(pack.card, undefined, 2)}\n`, privateFile);
    await writeFile(
      path.join(made, 'lines.jsonl'),
      pack.lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
      privateFile,
    );
    if (pack.source !== undefined) await writeFile(path.join(made, sourceName), pack.source, privateFile);
    if (pack.owner !== undefined) await writeFile(path.join(made, ownerName), pack.owner, privateFile);
    if (pack.picture !== undefined) await writeFile(path.join(made, pictureName), pack.picture, privateFile);
    for (const [name, bytes] of pack.files ?? []) {
      const target = path.join(made, assetsName, ...name.split('/'));
      await mkdir(path.dirname(target), { recursive: true, mode: privateFolder });
      await writeFile(target, bytes, privateFile);
    }
    if (replace) await moveAside(folder, `${made}.old`);
    await rename(made, folder);
    await rm(`${made}.old`, { recursive: true, force: true });
  } catch (cause) {
    await rm(made, { recursive: true, force: true });
    if (cause instanceof Error && 'code' in cause && (cause.code === 'ENOTEMPTY' || cause.code === 'EEXIST'))
      throw new CharacterError(`${folder}: a character with this id already exists; pass --replace, or another --id`, {
        cause,
      });
    throw cause;
  }
  return folder;
}

/** Returns the JSON of the card a pack was imported from; undefined for our own packs. */
export async function readSource(folder: string): Promise<string | undefined> {
  return readFile(path.join(folder, sourceName), 'utf8').catch(nothing);
}

/** Returns the picture of a pack, a PNG; undefined if it has none. */
export async function readPicture(folder: string): Promise<Uint8Array | undefined> {
  return readFile(path.join(folder, pictureName)).catch(nothing);
}

/** Returns the hash of the account that made a pack; undefined if the operator did. */
export function readOwner(folder: string): string | undefined {
  try {
    return readFileSync(path.join(folder, ownerName), 'utf8');
  } catch {
    return undefined;
  }
}

export function hasPicture(folder: string): boolean {
  return existsSync(path.join(folder, pictureName));
}

/** Writes a PNG into a pack, atomically. */
export async function writePicture(folder: string, picture: Uint8Array): Promise<void> {
  const made = path.join(folder, `.${pictureName}`);
  await writeFile(made, picture, privateFile);
  await rename(made, path.join(folder, pictureName));
}

/** Returns the asset files of a card, by path inside its archive. */
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
const ownerName = 'owner';

/** Keeps the replaced folder until the new one is complete; names with a dot are not read as packs. */
async function moveAside(folder: string, aside: string): Promise<void> {
  await rename(folder, aside).catch((cause: unknown) => {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'ENOENT')) throw cause;
  });
}

function nothing(): undefined {
  return undefined;
}
