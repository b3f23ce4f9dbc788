import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // More than processors: many of our tests wait for sound that lasts as long as it lasts, or for a browser.
    maxWorkers: 2 * availableParallelism(),
  },
});
