import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { cardSchema } from '../../../characters/card.ts';
import { importedCharacters, readCast } from '../../cast/cast.ts';
import { CharacterStore } from '../../cast/character-store.ts';
import { parseCommand } from '../../terminal/commands.ts';
import { UsageError } from '../../terminal/flags.ts';
import { printLine } from '../../terminal/text.ts';

/**
 * `dramatis characters remove ID`: deletes an imported character, as the web page and REST API do; also one that cannot
 * be read.
 */
export async function run(args: string[]): Promise<number> {
  const parsed = parseCommand('characters', 'remove ID', args, {});
  if (parsed === undefined) return 0;
  const [id] = parsed.positionals;
  if (id === undefined) throw new UsageError('Name a character: dramatis characters remove ID');
  const { config } = parsed;
  const characters = await readCast(config, () => undefined);
  const found = characters.get(id);
  const folder = path.join(importedCharacters(config), id);
  const isBroken = found === undefined && cardSchema.shape.id.safeParse(id).success;
  if (isBroken && existsSync(path.join(folder, 'card.json'))) await rm(folder, { recursive: true });
  else await new CharacterStore(characters, config).remove(id, 'operator', undefined);
  printLine(`Removed ${found?.name ?? id}.`);
  return 0;
}
