import { existsSync } from 'node:fs';
import path from 'node:path';
import { cardSchema } from '../../characters/card.ts';
import { CharacterError } from '../../characters/character-error.ts';
import { loadCharacter, loadCharacters, type Character } from '../../characters/character.ts';
import { loadSceneCasts } from '../../characters/scene.ts';
import type { Config } from '../config/config.ts';
import { noteLine } from '../terminal/text.ts';

/** Folder of the packs shipped with Dramatis. */
export const builtInCharacters = path.join(import.meta.dirname, '../../characters');

/** Folder that `dramatis characters import` writes to. */
export function importedCharacters({ dataDir }: Pick<Config, 'dataDir'>): string {
  return path.resolve(dataDir, 'characters');
}

/**
 * Loads the characters: built-in packs, imported ones, the operator's own. A later pack replaces an earlier one with
 * its id. One that cannot be read is skipped and reported.
 */
export async function readCharacters(
  config: CharacterPlaces,
  onLeftOut: OnSkippedPack = reportSkipped,
): Promise<Map<string, Character>> {
  const found = await Promise.all(
    foldersOf(config).map((folder) => loadCharacters(folder, leaveOut(folder, onLeftOut))),
  );
  return new Map(found.flat().map((pack) => [pack.id, pack]));
}

/** Loads all characters, followed by the scenes that they play in. Broken packs are skipped as in `readCharacters`. */
export async function readCast(
  config: CharacterPlaces,
  onLeftOut: OnSkippedPack = reportSkipped,
): Promise<Map<string, Character>> {
  const characters = await readCharacters(config, onLeftOut);
  const stages = await Promise.all(
    foldersOf(config).map((folder) => loadSceneCasts(folder, characters, leaveOut(folder, onLeftOut))),
  );
  return new Map([...characters, ...stages.flat().map((stage) => [stage.id, stage] as const)]);
}

/** Receives one line for each skipped pack: the file and its error. */
export type OnSkippedPack = (line: string) => void;

function reportSkipped(line: string): void {
  noteLine(`Skipped: ${line}`);
}

/** A card that is wrong throughout has an error for each field; the first ones are enough. */
const longestLine = 400;

/** Returns an error handler that skips a pack. Undefined for built-in packs, whose errors are thrown. */
function leaveOut(folder: string, onLeftOut: OnSkippedPack): ((fault: unknown) => void) | undefined {
  if (folder === builtInCharacters) return undefined;
  return (fault) => {
    const line = (fault instanceof Error ? fault.message : String(fault)).replaceAll(/[\s\p{C}]+/gu, ' ');
    onLeftOut(line.length > longestLine ? `${line.slice(0, longestLine)}…` : line);
  };
}

/** Finds a character and its folder. Throws a `CharacterError` that lists the known ids. */
export async function findCharacter(
  config: CharacterPlaces,
  id: string,
): Promise<{ readonly character: Character; readonly folder: string }> {
  const isId = cardSchema.shape.id.safeParse(id).success;
  const parent = foldersOf(config).findLast((each) => isId && existsSync(path.join(each, id, 'card.json')));
  if (parent !== undefined) {
    const folder = path.resolve(parent, id);
    return { character: await loadCharacter(folder), folder };
  }
  const known = [...(await readCharacters(config)).keys()].join(', ');
  throw new CharacterError(`There is no character "${id}". Known: ${known}`);
}

type CharacterPlaces = Partial<Pick<Config, 'charactersDir' | 'dataDir'>>;

function foldersOf(config: CharacterPlaces): string[] {
  const imported = config.dataDir === undefined ? [] : [importedCharacters({ dataDir: config.dataDir })];
  return [
    builtInCharacters,
    ...imported.filter((folder) => existsSync(folder)),
    ...(config.charactersDir === undefined ? [] : [config.charactersDir]),
  ];
}
