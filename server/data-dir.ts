import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { ConfigError } from './config.ts';

/** Makes the data folder before anything is kept there. Throws `ConfigError` where there can be none. `mode`: of new folders. */
export function makeDataDir(dataDir: string, mode?: number): void {
  const folder = path.resolve(dataDir);
  if (existsSync(folder)) return;
  // One at a time: where a kernel's file system takes no folders, such as /proc, Node's `recursive` tries for ever.
  makeDataDir(path.dirname(folder), mode);
  try {
    mkdirSync(folder, { mode });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    throw new ConfigError(
      `${folder}: no data folder can be made there (${code}). Choose another with --data-dir, or DRAMATIS_DATA_DIR.`,
      { cause },
    );
  }
}
