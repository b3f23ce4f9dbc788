import { existsSync } from 'node:fs';
import path from 'node:path';
import { cardSchema } from '../../characters/card.ts';
import { CharacterError } from '../../characters/character-error.ts';
import { loadCharacter, loadCharacters, type Character } from '../../characters/character.ts';
import { loadStages } from '../../characters/scene.ts';
import type { Config } from '../config/config.ts';

/** The folder of the packs that come with Dramatis. */
export const builtInCharacters = path.join(import.meta.dirname, '../../characters');

/** Where `dramatis characters import` puts them. */
export function importedCharacters({ dataDir }: Pick<Config, 'dataDir'>): string {
  return path.resolve(dataDir, 'characters');
}

/**
 * Built-in packs, then imported ones, then those of the user's own folder; the last of an id wins. What a user added and cannot be
 * read is left out, and told in one line: one broken file keeps nobody from the others.
 */
export async function readCharacters(
  config: CharacterPlaces,
  onLeftOut: LeftOut = tellLeftOut,
): Promise<Map<string, Character>> {
  const found = await Promise.all(
    foldersOf(config).map((folder) => loadCharacters(folder, leaveOut(folder, onLeftOut))),
  );
  return new Map(found.flat().map((pack) => [pack.id, pack]));
}

/** All characters, and after them the scenes in which they play; what is left out as in `readCharacters`. */
export async function readCast(
  config: CharacterPlaces,
  onLeftOut: LeftOut = tellLeftOut,
): Promise<Map<string, Character>> {
  const characters = await readCharacters(config, onLeftOut);
  const stages = await Promise.all(
    foldersOf(config).map((folder) => loadStages(folder, characters, leaveOut(folder, onLeftOut))),
  );
  return new Map([...characters, ...stages.flat().map((stage) => [stage.id, stage] as const)]);
}

/** Is told of what is left out: the file, and what is wrong with it, in one line. */
export type LeftOut = (line: string) => void;

function tellLeftOut(line: string): void {
  process.stderr.write(`Left out: ${line}\n`);
}

/** A card of which nothing is right has a fault for each field; the first ones tell. */
const longestLine = 400;

/** What comes with Dramatis must be whole. */
function leaveOut(folder: string, onLeftOut: LeftOut): ((fault: unknown) => void) | undefined {
  if (folder === builtInCharacters) return undefined;
  return (fault) => {
    const line = (fault instanceof Error ? fault.message : String(fault)).replaceAll(/[\s\p{C}]+/gu, ' ');
    onLeftOut(line.length > longestLine ? `${line.slice(0, longestLine)}…` : line);
  };
}

/** One of them, and the folder it lies in. Throws `CharacterError` that names those there are. */
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
