import { describe, expect, it } from 'vitest';
import { endpointingTimeoutMs, longerPauses } from '../../voices/turn-detector.ts';

const policy = { leastMs: 200, mostMs: 2_500, cutInCostMs: 2_500 };
const timeout = (completeness: number, more: Partial<typeof policy> = {}): number =>
  endpointingTimeoutMs(completeness, { ...policy, ...more });

describe('endpointing timeout', () => {
  it('a turn that is surely complete ends after the shortest wait, words that hang after the longest', () => {
    expect(timeout(1)).toBe(200);
    expect(timeout(0.95)).toBe(200);
    expect(timeout(0)).toBe(2_500);
    expect(timeout(0.01)).toBe(2_500);
  });

  it('only words that hang get the longest wait', () => {
    expect(timeout(0.02, { cutInCostMs: 100_000 })).toBe(2_500);
    expect(timeout(0.03, { cutInCostMs: 100_000 })).toBe(1_250);
  });

  it('the wait never grows with the probability that the turn is over', () => {
    const waits = Array.from({ length: 101 }, (_, percent) => timeout(percent / 100));
    expect(waits).toEqual(waits.toSorted((one, other) => other - one));
  });

  it('a turn that is as likely over as not ends within a second', () => {
    expect(timeout(0.5)).toBeGreaterThan(450);
    expect(timeout(0.5)).toBeLessThan(1_000);
  });

  it('a cut-in that costs more brings a longer wait', () => {
    expect(timeout(0.5, { cutInCostMs: 6_000 })).toBeGreaterThan(timeout(0.5, { cutInCostMs: 1_000 }));
  });

  it('asking again every 100 ms of silence, with the silence as evidence, gives the same end', () => {
    for (const completeness of [0.05, 0.2, 0.5, 0.7, 0.9]) {
      const planMs = timeout(completeness);
      for (let silentMs = 200; silentMs < planMs; silentMs += 100) {
        expect(bestFrom(silentMs, completeness)).toBe(planMs);
      }
    }
  });

  it('the share of longer pauses has the median and the 95th percentile it was made from', () => {
    expect(longerPauses(0)).toBe(1);
    expect(longerPauses(450)).toBeCloseTo(0.5, 6);
    expect(longerPauses(1_400)).toBeCloseTo(0.05, 6);
  });
});

/** The best end, decided anew after `silentMs` of silence by the probability as it is by then. */
function bestFrom(silentMs: number, completeness: number): number {
  const going = (1 - completeness) * (longerPauses(silentMs) / longerPauses(96));
  const over = completeness / (completeness + going);
  let best = { endMs: Infinity, cost: Infinity };
  for (let stepMs = 200; stepMs < 1_270; stepMs += 20) {
    const endMs = Math.min(stepMs, 1_250);
    if (endMs < silentMs) continue;
    const goesOn = (1 - over) * (longerPauses(endMs) / longerPauses(silentMs));
    const cost = over * (endMs - silentMs) + goesOn * policy.cutInCostMs;
    if (cost < best.cost) best = { endMs, cost };
  }
  return best.endMs;
}
