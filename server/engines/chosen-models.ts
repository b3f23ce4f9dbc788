import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { writeFileAtomicSync } from '../../voices/runtime/files.ts';
import { ConfigError } from '../config/config.ts';
import { makeDataDir } from '../config/data-dir.ts';

const chosenSchema = z.strictObject({ asr: z.string().max(64).optional(), tts: z.string().max(64).optional() });

/** Catalogue models that an administrator has chosen on the page, by stage. */
export type ChosenModels = z.infer<typeof chosenSchema>;

/** Stage whose engine can be replaced by a downloaded model. */
export type VoiceStage = keyof ChosenModels;

/** Reads the models that were chosen in an earlier run. Throws `ConfigError`. */
export function savedModels(dataDir: string | undefined): ChosenModels {
  if (dataDir === undefined || !existsSync(fileIn(dataDir))) return {};
  try {
    return chosenSchema.parse(JSON.parse(readFileSync(fileIn(dataDir), 'utf8')));
  } catch (cause) {
    throw new ConfigError(`${fileIn(dataDir)} cannot be read. Delete it to choose the models on the page again.`, {
      cause,
    });
  }
}

/** Saves the choice, so that the next start uses it. An empty one is forgotten. */
export function saveModels(dataDir: string, chosen: ChosenModels): void {
  const file = fileIn(dataDir);
  if (Object.values(chosen).every((id) => id === undefined)) return rmSync(file, { force: true });
  makeDataDir(dataDir);
  writeFileAtomicSync(file, `${JSON.stringify(chosen)}\n`);
}

function fileIn(dataDir: string): string {
  return path.join(path.resolve(dataDir), 'chosen-models.json');
}
