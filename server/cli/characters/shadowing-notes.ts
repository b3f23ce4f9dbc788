import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Config } from '../../config/config.ts';
import { builtInCharacters } from '../../cast/cast.ts';

/** Warns if a character of this id hides another, or is hidden by one. `isAlone`: `--id` can be used to rename it. */
export function shadowingNotes({ charactersDir }: Pick<Config, 'charactersDir'>, id: string, isAlone = true): string[] {
  const isThere = (parent: string): boolean => existsSync(path.join(parent, id, 'card.json'));
  const restore = isAlone ? '--id keeps both' : `\`dramatis characters remove ${id}\` restores it`;
  return [
    ...(isThere(builtInCharacters) ? [`replaces the built-in character of this id; ${restore}`] : []),
    ...(charactersDir !== undefined && isThere(charactersDir)
      ? [
          `hidden by the character of this id in ${charactersDir}, which takes precedence${isAlone ? '; --id keeps both' : ''}`,
        ]
      : []),
  ];
}
