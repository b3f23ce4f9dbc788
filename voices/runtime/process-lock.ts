import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** SQLite's code for "somebody else has it". */
const busy = 5;

/**
 * Holds a file that one process at a time can have. The lock is the operating system's, taken through an empty SQLite file: it
 * ends with the process, however that ends, and a number that the system has given to another process since means nothing.
 * Throws what `refused` makes of its holder, such as `Process 4711`. The file stays: removing it would let two have it.
 */
export async function takeProcessLock(file: string, refused: (holder: string) => Error): Promise<Disposable> {
  await mkdir(path.dirname(file), { recursive: true });
  const database = new DatabaseSync(file);
  try {
    database.exec('BEGIN EXCLUSIVE');
    // Beside the lock, which nobody else can read. For people alone: what stands in it decides nothing.
    await writeFile(`${file}.pid`, String(process.pid));
    return { [Symbol.dispose]: () => database.close() };
  } catch (fault) {
    database.close();
    if (!(fault instanceof Error && 'errcode' in fault && fault.errcode === busy)) throw fault;
    const pid = await readFile(`${file}.pid`, 'utf8').catch(() => '');
    throw refused(pid === '' ? 'Another process' : `Process ${pid}`);
  }
}
