import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { ConfigError } from './config.ts';

/**
 * Creates the data folder, or a folder in it, before anything is stored there. Throws `ConfigError` if that fails.
 * `mode` applies to new folders; `choice` names the option by which the user can pick another folder.
 */
export function makeDataDir(dataDir: string, mode?: number, choice = '--data-dir, or DRAMATIS_DATA_DIR'): void {
  const folder = path.resolve(dataDir);
  if (existsSync(folder)) return;
  // One level at a time: on a virtual file system that accepts no folders, such as /proc, Node's `recursive` option
  // loops forever.
  makeDataDir(path.dirname(folder), mode, choice);
  try {
    mkdirSync(folder, { mode });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    throw new ConfigError(`${folder}: the folder cannot be created (${code}). Choose another with ${choice}.`, {
      cause,
    });
  }
}
