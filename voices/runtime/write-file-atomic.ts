import { randomUUID } from 'node:crypto';
import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** Ending of the temporary files that a killed process may leave. */
export const draftEnding = '.tmp';

/**
 * Writes a file in one step, and its folder if there is none: readers find the old content or the new, never
 * half of it, even if this process is killed. `mode` holds whatever the umask is.
 */
export async function writeFileAtomic(file: string, content: string | Uint8Array, mode?: number): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
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
