import { violations } from './invariants.ts';
import { historyOf, wrongWith } from './outcome.ts';
import type { Scenario } from './scenario.ts';
import { play } from './world.ts';

/**
 * Plays a scenario. Returns what went wrong in it: what must be so in every run and is not, and what it expects itself;
 * where something did, the conversation follows. Empty is right.
 */
export async function wrongIn(scenario: Scenario, seed?: number): Promise<string[]> {
  const run = await play(scenario, seed);
  const wrong = [...violations(run), ...wrongWith(run)];
  return wrong.length === 0 ? [] : [...wrong, ...historyOf(run)];
}
