import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** SQLITE_BUSY: another process holds the lock. */
const busy = 5;

/**
 * Takes an exclusive, cross-process lock on a file. It is an operating system lock, taken through an empty SQLite file:
 * it ends with the process, however that ends, and a reused PID means nothing. If it is taken, throws the error that
 * `refused` returns for its holder, such as `Process 4711`. The file stays: removing it would let two processes hold
 * the lock.
 */
export async function takeProcessLock(file: string, refused: (holder: string) => Error): Promise<Disposable> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  // SQLite would make it readable by all. An existing file is not opened: closing it would end this process's lock.
  await writeFile(file, '', { flag: 'wx', mode: 0o600 }).catch(() => undefined);
  const database = new DatabaseSync(file);
  try {
    database.exec('BEGIN EXCLUSIVE');
    // Written next to the lock, which no other process can read. For error messages only.
    await writeFile(`${file}.pid`, String(process.pid), { mode: 0o600 });
    return { [Symbol.dispose]: () => database.close() };
  } catch (fault) {
    database.close();
    if (!(fault instanceof Error && 'errcode' in fault && fault.errcode === busy)) throw fault;
    const pid = await readFile(`${file}.pid`, 'utf8').catch(() => '');
    throw refused(pid === '' ? 'Another process' : `Process ${pid}`);
  }
}
