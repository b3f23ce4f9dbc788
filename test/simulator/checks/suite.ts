import { violations } from './invariants.ts';
import { historyOf, wrongWith } from './outcome.ts';
import type { Scenario } from '../scenario.ts';
import { play } from '../world.ts';

/**
 * Plays a scenario. Returns what went wrong: violated invariants and unmet expectations, followed by the conversation
 * and the command that replays the run. Empty if nothing did.
 */
export async function wrongIn(scenario: Scenario, seed?: number): Promise<string[]> {
  const run = await play(scenario, seed);
  const wrong = [...violations(run), ...wrongWith(run)];
  if (wrong.length === 0) return [];
  const replay = scenario.isRandom === true ? [`to see it: npm run bench -- simulator --seed ${run.seed}`] : [];
  return [...wrong, ...historyOf(run), ...replay];
}
