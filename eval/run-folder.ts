import { mkdir, open, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { openAudioStore, type AudioStore } from './audio-store.ts';
import { EvalError } from './eval-error.ts';

/** The folder of one run: `log.jsonl`, `audio/`, and what is worked out from them. */
export interface RunFolder extends AsyncDisposable {
  readonly path: string;
  readonly logFile: string;
  readonly audio: AudioStore;
}

/** Where a run's parts are; nothing is made or locked. */
export function runPaths(folder: string): { readonly logFile: string; readonly audio: AudioStore } {
  return { logFile: path.join(folder, 'log.jsonl'), audio: openAudioStore(path.join(folder, 'audio')) };
}

/** Opens the folder of a run for one process alone. A lock that a killed process has left is taken over. */
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
