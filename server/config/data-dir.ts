import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { ConfigError } from './config.ts';

/**
 * Makes the data folder, or one in it, before anything is kept there. Throws `ConfigError` where there can be none. `mode`: of new
 * folders. `choice`: where the user may name another.
 */
export function makeDataDir(dataDir: string, mode?: number, choice = '--data-dir, or DRAMATIS_DATA_DIR'): void {
  const folder = path.resolve(dataDir);
  if (existsSync(folder)) return;
  // One at a time: where a kernel's file system takes no folders, such as /proc, Node's `recursive` tries for ever.
  makeDataDir(path.dirname(folder), mode, choice);
  try {
    mkdirSync(folder, { mode });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    throw new ConfigError(`${folder}: no folder can be made there (${code}). Choose another with ${choice}.`, {
      cause,
    });
  }
}
