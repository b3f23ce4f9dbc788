import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Config } from '../../config/config.ts';
import { builtInCharacters } from '../../cast/cast.ts';

/** Warns if a character of this id hides another, or is hidden by one. `isAlone`: `--id` can be used to rename it. */
export function shadowingNotes({ charactersDir }: Pick<Config, 'charactersDir'>, id: string, isAlone = true): string[] {
  const isThere = (parent: string): boolean => existsSync(path.join(parent, id, 'card.json'));
  const bringBack = isAlone ? '--id keeps both' : `\`dramatis characters remove ${id}\` brings that back`;
  return [
    ...(isThere(builtInCharacters) ? [`in place of the one that comes with Dramatis; ${bringBack}`] : []),
    ...(charactersDir !== undefined && isThere(charactersDir)
      ? [`hidden by the one of that id in ${charactersDir}, which comes first${isAlone ? '; --id keeps both' : ''}`]
      : []),
  ];
}
