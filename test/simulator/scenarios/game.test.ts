import { describe, expect, it } from 'vitest';
import { violations } from '../checks/invariants.ts';
import { gameOutcome, gameScenario } from '../game.ts';
import { play } from '../world.ts';

const seeds = Array.from({ length: 12 }, (_, index) => index + 1);

describe('a game', () => {
  it.each(seeds)('performs what was heard and nothing else, however replies are cut: seed %d', async (seed) => {
    const run = await play(gameScenario(seed));
    const { interrupted, performed, unheard, missed, believed } = gameOutcome(run);
    expect(violations(run)).toEqual([]);
    expect({ unheard, missed, believed }).toEqual({ unheard: [], missed: [], believed: [] });
    expect(interrupted).toBeGreaterThan(0);
    expect(performed).toBeGreaterThan(0);
  });

  it('falls silent within 90 ms of an event that interrupts, wherever in a word that comes', async () => {
    const silentMs: number[] = [];
    for (const seed of seeds) {
      const run = await play(gameScenario(seed, { weather: { latencyMs: 0, jitterMs: 0 } }));
      silentMs.push(...gameOutcome(run).silentMs);
    }
    expect(silentMs.length).toBeGreaterThan(3);
    expect(Math.max(...silentMs)).toBeLessThanOrEqual(90);
  });
});
