import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** SQLite's code for "somebody else has it". */
const busy = 5;
/** Another process that tells its number, or looks, is gone within this. */
const patienceMs = 250;

/**
 * Holds a file that one process at a time can have. The lock is the operating system's, taken through SQLite: it ends with the
 * process, however that ends, and a number that the system has given to another process since means nothing. Throws what
 * `refused` makes of the holder's process number. The file stays: removing it would let two have it.
 */
export async function takeProcessLock(file: string, refused: (holder: number) => Error): Promise<Disposable> {
  await mkdir(path.dirname(file), { recursive: true });
  const database = new DatabaseSync(file, { timeout: patienceMs });
  try {
    // Committed, so that others can read who it is while this one goes on holding the file.
    database.exec(`BEGIN IMMEDIATE; PRAGMA user_version = ${process.pid}; COMMIT; BEGIN IMMEDIATE;`);
    return { [Symbol.dispose]: () => database.close() };
  } catch (fault) {
    const isHeld = fault instanceof Error && 'errcode' in fault && fault.errcode === busy;
    const holder = isHeld ? Number(database.prepare('PRAGMA user_version').get()?.['user_version']) : 0;
    database.close();
    throw isHeld ? refused(holder) : fault;
  }
}
