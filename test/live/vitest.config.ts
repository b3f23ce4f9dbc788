import path from 'node:path';
import { defineConfig } from 'vitest/config';

/** `npm run test:live`: the conformance suites against the engines in the user's own configuration, one at a time. */
export default defineConfig({
  test: {
    root: path.resolve(import.meta.dirname, '../..'),
    include: ['test/live/engines.live.ts'],
    // Models are slow, especially in the first call.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    fileParallelism: false,
    reporters: ['verbose'],
  },
});
