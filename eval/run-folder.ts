import { existsSync } from 'node:fs';
import { mkdir, open, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { EvalError } from './eval-error.ts';
import { createHash } from 'node:crypto';
import { writeFileAtomic } from '../voices/runtime/files.ts';

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
      throw new EvalError(
        'busy',
        `${folder}: process ${owner} is working on this run. Wait until it ends, or stop it.`,
      );
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

/** WAV files named by content hash: identical audio is stored once, and a name always matches its content. */
export interface AudioStore {
  /** Stores a WAV and resolves to its name: the first 40 hex digits of its SHA-256. */
  keep(wav: Uint8Array): Promise<string>;
  read(name: string): Promise<Buffer>;
  pathOf(name: string): string;
}

/**
 * Opens a store in a folder, which is created on the first write. Writes are atomic, so a killed process leaves no
 * partial file.
 */
export function openAudioStore(folder: string): AudioStore {
  const pathOf = (name: string): string => path.join(folder, `${name}.wav`);
  return {
    async keep(wav) {
      const name = createHash('sha256').update(wav).digest('hex').slice(0, 40);
      const place = pathOf(name);
      if (!existsSync(place)) await writeFileAtomic(place, wav);
      return name;
    },
    read: (name) => readFile(pathOf(name)),
    pathOf,
  };
}
