import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEachFile } from './cleanups.ts';

const folders: string[] = [];
afterEachFile(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Makes a temporary folder, which is removed after all tests of the file. */
export function testFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'dramatis-test-'));
  folders.push(folder);
  return folder;
}
