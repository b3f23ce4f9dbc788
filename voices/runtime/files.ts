import { randomUUID } from 'node:crypto';
import { chmod, mkdir, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createHash } from 'node:crypto';
import { createReadStream, renameSync, rmSync, writeFileSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';

/** SHA-256 as lower-case hex. */
export function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** SHA-256 of a file as lower-case hex, read as a stream. Rejects with the file system's error. */
export async function hashFile(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file, { highWaterMark: 2 ** 20 }), hash);
  return hash.digest('hex');
}

/** Ending of the temporary files that a killed process may leave. */
export const draftEnding = '.tmp';

/**
 * Writes a file, and its folder, in one step: readers find old or new content. `mode` holds despite the umask,
 * and a new folder for a private file is private too. A link stays and its file is written; a pipe or a device is written in place.
 */
export async function writeFileAtomic(name: string, content: string | Uint8Array, mode?: number): Promise<void> {
  const file = await realpath(name).catch(() => name);
  const found = await stat(file).catch(() => undefined);
  if (found !== undefined && !found.isFile() && !found.isDirectory()) return writeFile(file, content);
  const isPrivate = mode !== undefined && (mode & 0o077) === 0;
  await mkdir(path.dirname(file), { recursive: true, ...(isPrivate && { mode: 0o700 }) });
  const draft = path.join(path.dirname(file), `.${path.basename(file)}.${randomUUID()}${draftEnding}`);
  try {
    await writeFile(draft, content, { flag: 'wx', ...(mode !== undefined && { mode }) });
    if (mode !== undefined) await chmod(draft, mode);
    await rename(draft, file);
  } catch (cause) {
    await rm(draft, { force: true });
    throw cause;
  }
}

/** Like `writeFileAtomic`, without returning to the event loop; only the owner may read the file. Its folder must exist. */
export function writeFileAtomicSync(file: string, content: string): void {
  const draft = `${file}.${process.pid}${draftEnding}`;
  try {
    writeFileSync(draft, content, { mode: 0o600 });
    renameSync(draft, file);
  } catch (cause) {
    rmSync(draft, { force: true });
    throw cause;
  }
}
