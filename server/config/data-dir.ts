import { existsSync, mkdirSync, mkdtempSync, rmdirSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ConfigError } from './config.ts';

const dataDirChoice = '--data-dir, or DRAMATIS_DATA_DIR';

/**
 * Creates the data folder, or a folder in it, before anything is stored there. Throws `ConfigError` if that fails, or if
 * it exists and cannot be written. New folders can be read only by this user; `choice` names the option by which the user
 * can pick another folder.
 */
export function makeDataDir(dataDir: string, choice = dataDirChoice): void {
  const folder = path.resolve(dataDir);
  makeFolder(folder, choice);
  try {
    rmdirSync(mkdtempSync(path.join(folder, '.writable-')));
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    // A full disk can still be read, and lines that wait for space are reported later.
    if (code === 'ENOSPC' || code === 'EDQUOT') return;
    throw new ConfigError(`${folder}: the folder cannot be written (${code}). Choose another with ${choice}.`, {
      cause,
    });
  }
}

/** SQLite's code for a lock that another process holds. */
const sqliteBusy = 5;

/**
 * Makes this process the only server on a data folder, until the returned function is called or the process ends. Two
 * of them would delete each other's journals. Throws `ConfigError` if another process is the owner. The lock is one of
 * the operating system on a SQLite file: it cannot be left behind by a kill.
 */
export function lockDataDir(dataDir: string): () => void {
  const folder = path.resolve(dataDir);
  const file = path.join(folder, 'owner.lock');
  const database = new DatabaseSync(file);
  try {
    database.exec('BEGIN IMMEDIATE');
    // Readable by others only once it is committed; the lock is taken again at once.
    database.exec(`PRAGMA user_version = ${process.pid}; COMMIT; BEGIN IMMEDIATE`);
  } catch (cause) {
    if ((cause as { errcode?: number }).errcode !== sqliteBusy) {
      database.close();
      throw new ConfigError(`${file}: ${(cause as Error).message}. Choose another folder with ${dataDirChoice}.`, {
        cause,
      });
    }
    const { user_version: owner } = database.prepare('PRAGMA user_version').get() as { user_version: number };
    database.close();
    throw new ConfigError(
      `${folder}: another Dramatis server uses this data folder (process ${owner}). Stop it, or choose another folder with ${dataDirChoice}.`,
      { cause },
    );
  }
  return () => database.close();
}

function makeFolder(folder: string, choice: string): void {
  if (existsSync(folder)) return;
  // One level at a time: on a virtual file system that accepts no folders, such as /proc, Node's `recursive` option
  // loops forever.
  makeFolder(path.dirname(folder), choice);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    throw new ConfigError(`${folder}: the folder cannot be created (${code}). Choose another with ${choice}.`, {
      cause,
    });
  }
}
