import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { statementSchema, type PassageResult } from '../../../agents/drafting/statements.ts';

const stored = z.object({
  statements: z.array(statementSchema),
  dropped: z.number().int(),
});

/** Results of the passages read so far, on disk, so that a stopped draft can be resumed. */
export interface DraftStore {
  read(index: number): Promise<PassageResult | undefined>;
  write(index: number, result: PassageResult): Promise<void>;
  remove(): Promise<void>;
}

/** Opens the store for one text, name and model: nothing is reused if any of them changes. */
export function openDraftStore(parent: string, about: readonly string[]): DraftStore {
  const key = createHash('sha256').update(JSON.stringify(about)).digest('hex').slice(0, 16);
  const folder = path.join(parent, `.draft-${key}`);
  const fileOf = (index: number): string => path.join(folder, `${index}.json`);
  return {
    async read(index) {
      try {
        return stored.parse(JSON.parse(await readFile(fileOf(index), 'utf8')));
      } catch {
        // Missing, or half written by a killed process: the passage is read again.
        return undefined;
      }
    },
    async write(index, result) {
      await mkdir(folder, { recursive: true });
      await writeFile(`${fileOf(index)}.new`, JSON.stringify(result));
      await rename(`${fileOf(index)}.new`, fileOf(index));
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
