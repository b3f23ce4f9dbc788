import { mkdir, open, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { openAudioStore, type AudioStore } from './audio-store.ts';
import { EvalError } from './eval-error.ts';

/** The folder of one run: `log.jsonl`, `audio/`, and the files computed from them. */
export interface RunFolder extends AsyncDisposable {
  readonly path: string;
  readonly logFile: string;
  readonly audio: AudioStore;
}

/** Returns the paths of a run's parts; creates and locks nothing. */
export function runPaths(folder: string): { readonly logFile: string; readonly audio: AudioStore } {
  return { logFile: path.join(folder, 'log.jsonl'), audio: openAudioStore(path.join(folder, 'audio')) };
}

/**
 * Opens and locks the folder of a run. Takes over the lock of a process that no longer runs. Throws an `EvalError` if
 * another process holds it.
 */
export async function openRunFolder(folder: string): Promise<RunFolder> {
  await mkdir(folder, { recursive: true });
  const lock = path.join(folder, 'run.lock');
  for (;;) {
    const handle = await open(lock, 'wx').catch(() => undefined);
    if (handle !== undefined) {
      await handle.writeFile(String(process.pid));
      await handle.close();
      break;
    }
    const owner = Number(await readFile(lock, 'utf8').catch(() => '0'));
    if (owner !== process.pid && isAlive(owner))
      throw new EvalError('busy', `${folder}: process ${owner} is at work on this run. Wait for it, or end it.`);
    await rm(lock, { force: true });
  }
  return {
    path: folder,
    ...runPaths(folder),
    async [Symbol.asyncDispose]() {
      await rm(lock, { force: true });
    },
  };
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (fault) {
    return fault instanceof Error && 'code' in fault && fault.code === 'EPERM';
  }
}
