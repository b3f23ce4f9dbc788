import path from 'node:path';
import { expect, it } from 'vitest';
import { worldPromptCost } from './world-prompt.ts';

it('costs a model at most 2,048 tokens after a change of the world, and leaves the prefix of its prompt', async () => {
  const folder = path.resolve(import.meta.dirname, '../../../characters/sherlock-holmes');
  const { extraTokens, prefixHits } = await worldPromptCost(folder);
  expect(Math.max(...extraTokens)).toBeLessThanOrEqual(2_048);
  expect(Math.max(...extraTokens)).toBeGreaterThan(1_800);
  expect(prefixHits).not.toContain(false);
}, 60_000);
