import { describe, expect, it } from 'vitest';
import { mostLikelyToken, logProbabilityOf } from '../../../voices/recognizers/greedy-decoding.ts';

describe('greedy decoding', () => {
  const logits = Float32Array.from([0.1, 0.2, 0.7, 1e-9], Math.log);

  it('greedy decoding picks the highest score and returns its probability', () => {
    const { token, logProbability } = mostLikelyToken(logits);
    expect(token).toBe(2);
    expect(Math.exp(logProbability)).toBeCloseTo(0.7, 5);
  });

  it('greedy decoding is stable for very large scores', () => {
    expect(Math.exp(mostLikelyToken(logits.map((value) => value + 500)).logProbability)).toBeCloseTo(0.7, 3);
  });

  it('greedy decoding skips suppressed tokens', () => {
    const ruled = Float32Array.from([Number.NEGATIVE_INFINITY, -3, -4]);
    expect(mostLikelyToken(ruled).token).toBe(1);
    expect(logProbabilityOf(ruled, 0)).toBe(Number.NEGATIVE_INFINITY);
  });

  it('greedy decoding returns the probability of any token', () => {
    expect(Math.exp(logProbabilityOf(logits, 1))).toBeCloseTo(0.2, 5);
  });
});
