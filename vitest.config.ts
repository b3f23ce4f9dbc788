import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // By itself it leaves one processor idle; our tests mostly wait for sound that lasts as long as it lasts.
    maxWorkers: Math.max(2, availableParallelism()),
  },
});
