import { describe, expect, it } from 'vitest';
import { randomScenario } from '../random-scenario.ts';
import { wrongIn } from '../checks/suite.ts';
import { traceOf } from '../trace.ts';
import { play } from '../world.ts';

/** For more seeds there is the bench: `npm run bench -- simulator --seeds 100000`. */
const seeds = Number(process.env['DRAMATIS_SIMULATED_SEEDS'] ?? 1_500);
const perTest = 100;

describe('random conversations', () => {
  const firsts = Array.from({ length: Math.ceil(seeds / perTest) }, (_, index) => 1 + index * perTest);
  it.each(firsts)('random conversations keep all invariants from seed %i on', async (first) => {
    for (let seed = first; seed < Math.min(first + perTest, seeds + 1); seed += 1) {
      expect(await wrongIn(randomScenario(seed))).toEqual([]);
    }
  });

  it('random conversations are identical for the same seed', async () => {
    const [one, other, third] = await Promise.all(
      [7, 7, 8].map(async (seed) => traceOf(await play(randomScenario(seed)))),
    );
    expect(one).toEqual(other);
    expect(one).not.toEqual(third);
  });
});
