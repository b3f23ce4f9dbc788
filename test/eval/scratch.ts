import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A temporary folder that is deleted after the test: `await using scratch = await openScratch()`. */
export async function openScratch(): Promise<{ readonly path: string } & AsyncDisposable> {
  const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-eval-'));
  return {
    path: folder,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
