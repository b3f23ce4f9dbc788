import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/setup.ts'],
    // Guards against hanging; no test asserts how fast the machine is. Several take 29 s when all run on two slow processors.
    testTimeout: 90_000,
    hookTimeout: 90_000,
    // As many as processors: with one more, the whole suite took a tenth less, but browsers and killed servers of three
    // files at once were late for what a test expects of them.
    maxWorkers: availableParallelism(),
  },
});
