import { open, readFile, rm } from 'node:fs/promises';
import { ModelError } from './model-error.ts';

/** Holds a file by which only one process at a time works on a model. A killed one's is taken over. Throws `model_in_use`. */
export async function lockPull(file: string, id: string): Promise<AsyncDisposable> {
  for (;;) {
    try {
      const handle = await open(file, 'wx');
      await handle.writeFile(String(process.pid));
      await handle.close();
      return { [Symbol.asyncDispose]: () => rm(file, { force: true }) };
    } catch (cause) {
      if (!(cause instanceof Error && 'code' in cause && cause.code === 'EEXIST')) throw cause;
      const holder = Number(await readFile(file, 'utf8').catch(() => ''));
      if (isRunning(holder)) {
        throw new ModelError('model_in_use', `Process ${holder} is at work on ${id}. Wait for it, or end it.`, cause);
      }
      await rm(file, { force: true });
    }
  }
}

function isRunning(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (fault) {
    return fault instanceof Error && 'code' in fault && fault.code === 'EPERM';
  }
}
