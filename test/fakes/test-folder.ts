import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll } from 'vitest';

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Makes a temporary folder, which is removed after all tests of the file. */
export function testFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'dramatis-test-'));
  folders.push(folder);
  return folder;
}
