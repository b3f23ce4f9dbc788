import { existsSync } from 'node:fs';
import path from 'node:path';
import { CharacterError } from '../characters/character-error.ts';
import { loadCharacters, type Character } from '../characters/character.ts';
import { loadStages } from '../characters/scene.ts';
import type { Config } from './config.ts';

/** The folder of the packs that come with Dramatis. */
export const builtInCharacters = path.join(import.meta.dirname, '..', 'characters');

/** Where `dramatis characters import` puts them. */
export function importedCharacters({ dataDir }: Pick<Config, 'dataDir'>): string {
  return path.resolve(dataDir, 'characters');
}

/** Built-in packs, then imported ones, then those of the user's own folder; the last of an id wins. */
export async function readCharacters(config: CharacterPlaces): Promise<Map<string, Character>> {
  const found = await Promise.all(foldersOf(config).map(loadCharacters));
  return new Map(found.flat().map((pack) => [pack.id, pack]));
}

/** All characters, and after them the scenes in which they play. */
export async function readCast(config: CharacterPlaces): Promise<Map<string, Character>> {
  const characters = await readCharacters(config);
  const stages = await Promise.all(foldersOf(config).map((folder) => loadStages(folder, characters)));
  return new Map([...characters, ...stages.flat().map((stage) => [stage.id, stage] as const)]);
}

/** One of them, and the folder it lies in. Throws `CharacterError` that names those there are. */
export async function findCharacter(
  config: CharacterPlaces,
  id: string,
): Promise<{ readonly character: Character; readonly folder: string }> {
  for (const parent of foldersOf(config).toReversed()) {
    const character = (await loadCharacters(parent)).find((pack) => pack.id === id);
    if (character !== undefined) return { character, folder: path.resolve(parent, id) };
  }
  const known = [...(await readCharacters(config)).keys()].join(', ');
  throw new CharacterError(`There is no character "${id}"; there is ${known}`);
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
