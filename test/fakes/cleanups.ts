/** Called at the end of each test, and of each file of tests. */
const afterTest: (() => unknown)[] = [];
const afterFile: (() => unknown)[] = [];

/**
 * Registers what closes the things that a rig has opened in a test. Rigs call it once, when they are loaded: one process runs
 * many files of tests, so the hooks of vitest, which belong to one file, would be there for the first one only.
 */
export function afterEachTest(close: () => unknown): void {
  afterTest.push(close);
}

/** As `afterEachTest`, for what the tests of a file share. */
export function afterEachFile(close: () => unknown): void {
  afterFile.push(close);
}

/** For `setup.ts` alone. The newest first, as vitest does with its hooks. */
export async function closeAll(kind: 'test' | 'file'): Promise<void> {
  for (const close of (kind === 'test' ? afterTest : afterFile).toReversed()) await close();
}
