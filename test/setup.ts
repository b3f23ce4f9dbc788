import { afterAll, afterEach, vi } from 'vitest';
import { closeAll } from './fakes/cleanups.ts';

// Runs before every file of tests. With `npm run test:fast`, several files share a process and its modules, so that each leaves
// the time, the environment and the globals as it found them.
afterEach(() => closeAll('test'));
afterAll(async () => {
  await closeAll('file');
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});
