import { randomUUID } from 'node:crypto';
import { chmod, mkdir, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';

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
