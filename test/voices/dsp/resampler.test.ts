import { readFileSync } from 'node:fs';
import * as fc from '../../fakes/property.ts';
import { describe, expect, it } from 'vitest';
import { concatSamples } from '../../../voices/audio.ts';
import { resample, Resampler } from '../../../voices/dsp/resampler.ts';
import { sharedAvailable, sharedPath } from '../../shared.ts';

function tone(sampleRate: number, hertz: number, seconds: number): Float32Array {
  return Float32Array.from({ length: Math.round(sampleRate * seconds) }, (_, index) =>
    Math.sin((2 * Math.PI * hertz * index) / sampleRate),
  );
}

/** Root mean square without the filter's edges. */
function level(samples: Float32Array): number {
  const inner = samples.subarray(200, -200);
  return Math.sqrt(inner.reduce((sum, value) => sum + value * value, 0) / inner.length);
}

const rates = fc.constantFrom(8_000, 11_025, 16_000, 22_050, 24_000, 44_100, 48_000, 96_000, 192_000);

describe('resampler', () => {
  it('the resampler returns the same block if the rates are equal', () => {
    const block = tone(16_000, 440, 0.1);
    const resampler = new Resampler(16_000, 16_000);
    expect(resampler.push(block)).toBe(block);
    expect(resampler.flush()).toHaveLength(0);
    expect(resample(block, 16_000, 16_000)).toBe(block);
  });

  it('the resampler writes into a given buffer as much as fits, with the same result', () => {
    const blocks = [480, 7, 960, 4_000].map((length) => tone(24_000, 440, length / 24_000));
    const [plain, told] = [new Resampler(24_000, 16_000), new Resampler(24_000, 16_000)];
    const into = new Float32Array(1_000);
    for (const block of blocks) {
      const output = told.push(block, into);
      expect(output).toEqual(plain.push(block));
      expect(output.buffer === into.buffer).toBe(block.length < 1_500);
    }
  });

  it('the resampler refuses invalid rates', () => {
    for (const rate of [0, 7_999, 192_001, 16_000.5, Number.NaN]) {
      expect(() => new Resampler(rate, 16_000)).toThrow(RangeError);
      expect(() => new Resampler(16_000, rate)).toThrow(RangeError);
    }
  });

  it('the resampler returns ceil(input * to / from) samples, however the input is cut', () => {
    const cuts = fc.array(fc.integer({ min: 0, max: 700 }), { maxLength: 12 });
    fc.assert(
      fc.property(rates, rates, cuts, (from, to, lengths) => {
        const resampler = new Resampler(from, to);
        const blocks = lengths.map((length) => Float32Array.from({ length }, (_, index) => Math.sin(index + length)));
        const streamed = concatSamples([...blocks.map((block) => resampler.push(block)), resampler.flush()]);
        const input = concatSamples(blocks);
        expect(streamed).toHaveLength(Math.ceil((input.length * to) / from));
        expect(streamed).toEqual(resample(input, from, to));
      }),
      { numRuns: 150 },
    );
  });

  it('the resampler can be reused after a flush', () => {
    const resampler = new Resampler(24_000, 16_000);
    const block = tone(24_000, 300, 0.05);
    const first = concatSamples([resampler.push(block), resampler.flush()]);
    expect(concatSamples([resampler.push(block), resampler.flush()])).toEqual(first);
  });

  it('resamplers of different streams do not affect each other', () => {
    const [one, other] = [new Resampler(24_000, 16_000), new Resampler(24_000, 16_000)];
    const speech = tone(24_000, 300, 0.05);
    const alone = resample(speech, 24_000, 16_000);
    const parts = [one.push(speech.subarray(0, 500)), other.push(tone(24_000, 3_000, 0.05))];
    const rest = one.push(speech.subarray(500));
    expect(concatSamples([parts[0] as Float32Array, rest, one.flush()])).toEqual(alone);
  });

  it('the resampler keeps a tone in time and at its level', () => {
    const pairs = [
      [24_000, 16_000],
      [16_000, 24_000],
      [44_100, 16_000],
      [48_000, 16_000],
      [22_050, 16_000],
      [8_000, 48_000],
      [16_001, 24_007],
    ] as const;
    for (const [from, to] of pairs) {
      const output = resample(tone(from, 440, 0.5), from, to);
      const wanted = tone(to, 440, 0.5);
      for (let index = 300; index < output.length - 300; index += 1) {
        expect(Math.abs((output[index] as number) - (wanted[index] as number))).toBeLessThan(3e-3);
      }
    }
  });

  it('the resampler removes frequencies above the Nyquist limit of the lower rate', () => {
    expect(level(resample(tone(48_000, 11_000, 0.5), 48_000, 16_000))).toBeLessThan(0.01);
    expect(level(resample(tone(48_000, 3_000, 0.5), 48_000, 16_000))).toBeCloseTo(Math.SQRT1_2, 2);
  });

  it('the resampler delays by no more than its lookahead', () => {
    const resampler = new Resampler(24_000, 16_000);
    const output = resampler.push(tone(24_000, 300, 1));
    expect(resampler.lookaheadSamples).toBeLessThanOrEqual(12);
    expect(output.length).toBeGreaterThanOrEqual(Math.floor(((24_000 - resampler.lookaheadSamples) * 2) / 3));
  });

  it.skipIf(!sharedAvailable)('the resampler agrees with torchaudio', () => {
    const golden = JSON.parse(readFileSync(sharedPath('golden/torchaudio_sinc_resample.json'), 'utf8')) as Record<
      string,
      { len_in: number; len_out: number; first16: number[]; mid16: number[] }
    >;
    const pairs = Object.entries(golden).filter(([key]) => key.includes('->'));
    expect(pairs.length).toBeGreaterThanOrEqual(5);
    for (const [key, { len_in, len_out, first16, mid16 }] of pairs) {
      const [from, to] = key.split('->').map(Number) as [number, number];
      const input = Float32Array.from(
        { length: len_in },
        (_, n) => 0.5 * Math.sin((2 * Math.PI * 1000 * n) / from) + 0.25 * Math.sin((2 * Math.PI * 3333 * n) / from),
      );
      const output = resample(input, from, to);
      expect(output).toHaveLength(len_out);
      for (const [index, value] of first16.entries()) expect(output[index]).toBeCloseTo(value, 5);
      const middle = Math.floor(len_out / 2);
      for (const [index, value] of mid16.entries()) expect(output[middle + index]).toBeCloseTo(value, 5);
    }
  });
});
