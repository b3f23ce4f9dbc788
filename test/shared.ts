import { existsSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Folder with recordings and reference vectors that are not part of the project: `../shared`, or `DRAMATIS_SHARED_DIR`.
 */
const directory = process.env['DRAMATIS_SHARED_DIR'] ?? join(import.meta.dirname, '../../shared');

/** True if the folder exists; tests that need it are written as `it.skipIf(!sharedAvailable)(...)`. */
export const sharedAvailable = existsSync(join(directory, 'golden')) && existsSync(join(directory, 'audio'));

if (!sharedAvailable) {
  console.warn(
    `Tests on real recordings are skipped: there is no ${directory} (set DRAMATIS_SHARED_DIR to point to it).`,
  );
}

/** Path of a file in the shared folder, given relative to it. */
export function sharedPath(relative: string): string {
  return join(directory, relative);
}
