import { describe, expect, it } from 'vitest';
import { createRealDft, createTwinDft } from '../../../voices/dsp/dft.ts';
import { whiteNoise } from '../../fakes/voice-like.ts';

/** The definition, bin by bin. */
function slowPower(samples: Float64Array): number[] {
  return Array.from({ length: (samples.length >> 1) + 1 }, (_, bin) => {
    let real = 0;
    let imaginary = 0;
    for (const [index, value] of samples.entries()) {
      real += value * Math.cos((2 * Math.PI * bin * index) / samples.length);
      imaginary -= value * Math.sin((2 * Math.PI * bin * index) / samples.length);
    }
    return real * real + imaginary * imaginary;
  });
}

const noise = (length: number, seed?: number): Float64Array => Float64Array.from(whiteNoise(length, 1, seed));

describe('DFT', () => {
  it.each([2, 4, 6, 34, 200, 256, 400, 512])('the DFT equals the definition for %i samples', (size) => {
    const samples = noise(size + 3);
    const power = new Float64Array(size / 2 + 1);
    createRealDft(size).powerSpectrum(samples, 3, power);
    const expected = slowPower(samples.slice(3));
    for (const [bin, value] of power.entries()) expect(value).toBeCloseTo(expected[bin] as number, 8);
  });

  it.each([0, 1, 321])('the DFT refuses the size %i', (size) => {
    expect(() => createRealDft(size)).toThrow(RangeError);
  });

  it.each([1, 2, 3, 4, 6, 15, 34, 107, 128, 321, 400])('the twin DFT equals the definition for %i samples', (size) => {
    const [first, second] = [noise(size, 3), noise(size, 11)];
    const powers = [new Float64Array((size >> 1) + 1), new Float64Array((size >> 1) + 1)] as const;
    createTwinDft(size).powerSpectra(first, second, ...powers);
    const expected = [slowPower(first), slowPower(second)];
    for (const [frame, power] of powers.entries()) {
      for (const [bin, value] of power.entries()) expect(value).toBeCloseTo(expected[frame]?.[bin] as number, 8);
    }
  });

  it.each([0, -3, 2.5])('the twin DFT refuses the size %d', (size) => {
    expect(() => createTwinDft(size)).toThrow(RangeError);
  });
});
