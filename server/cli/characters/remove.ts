import { rm } from 'node:fs/promises';
import path from 'node:path';
import { CharacterError } from '../../../characters/character-error.ts';
import { findCharacter, importedCharacters } from '../../cast.ts';
import { printable } from '../printable.ts';
import { parseCommand, UsageError } from '../usage.ts';

/** `dramatis characters remove ID`: takes an imported character away. */
export async function run(args: string[]): Promise<number> {
  const parsed = parseCommand('characters', 'remove ID', args, {});
  if (parsed === undefined) return 0;
  const [id] = parsed.positionals;
  if (id === undefined) throw new UsageError('Which one? dramatis characters remove ID');
  const { character, folder } = await findCharacter(parsed.config, id);
  if (path.dirname(folder) !== importedCharacters(parsed.config))
    throw new CharacterError(`${id} was not imported; it lies in ${folder}`);
  await rm(folder, { recursive: true });
  console.log(printable(`${character.name} is gone.`));
  return 0;
}
