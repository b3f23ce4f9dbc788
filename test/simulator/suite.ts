import { violations } from './invariants.ts';
import { historyOf, wrongWith } from './outcome.ts';
import type { Scenario } from './scenario.ts';
import { play } from './world.ts';

/**
 * Plays a scenario. Returns what went wrong in it: what must be so in every run and is not, and what it expects itself;
 * where something did, the conversation follows, and how to see the run. Empty is right.
 */
export async function wrongIn(scenario: Scenario, seed?: number): Promise<string[]> {
  const run = await play(scenario, seed);
  const wrong = [...violations(run), ...wrongWith(run)];
  if (wrong.length === 0) return [];
  const replay = scenario.isRandom === true ? [`to see it: npm run bench -- simulator --seed ${run.seed}`] : [];
  return [...wrong, ...historyOf(run), ...replay];
}
