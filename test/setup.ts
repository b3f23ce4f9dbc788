import { afterAll, afterEach, vi } from 'vitest';
import { closeAll } from './fakes/cleanups.ts';

// Runs before every file of tests. Several files share a process and its modules (`vitest.config.ts`), so that each leaves
// the time, the environment and the globals as it found them.
afterEach(() => closeAll('test'));
afterAll(async () => {
  await closeAll('file');
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});
