import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readAudioFile } from '../../../voices/dsp/audio-file.ts';
import { createTwinDft } from '../../../voices/dsp/dft.ts';
import { kaldiFbank, subtractMean, type FbankOptions } from '../../../voices/dsp/fbank.ts';
import { sharedAvailable, sharedPath } from '../../shared.ts';

function noise(length: number, seed = 7): Float32Array {
  let state = seed;
  return Float32Array.from({ length }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 31 - 1;
  });
}

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

describe('DFT of two frames at once', () => {
  it.each([1, 2, 3, 4, 6, 15, 34, 107, 128, 321, 400])('the twin DFT equals the definition for %i samples', (size) => {
    const [first, second] = [Float64Array.from(noise(size, 3)), Float64Array.from(noise(size, 11))];
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

describe('Kaldi fbank', () => {
  it('fbank has a frame wherever 25 ms fit in', () => {
    expect([0, 399, 400, 559, 560, 16_000].map((length) => kaldiFbank(noise(length)).frames)).toEqual([
      0, 0, 1, 1, 2, 98,
    ]);
  });

  it('fbank of silence is at its floor', () => {
    const { values } = kaldiFbank(new Float32Array(1_600));
    expect(values).toHaveLength(8 * 80);
    for (const value of values) expect(value).toBeCloseTo(-15.9424, 4);
  });

  it('fbank ignores an offset and scales as the logarithm does', () => {
    const sound = noise(4_000);
    const plain = kaldiFbank(sound).values;
    const raised = kaldiFbank(sound.map((value) => value * 0.5 + 0.25)).values;
    const scaled = kaldiFbank(sound, { scale: 32_768 }).values;
    for (const [index, value] of plain.entries()) {
      expect((raised[index] as number) - value).toBeCloseTo(2 * Math.log(0.5), 4);
      expect((scaled[index] as number) - value).toBeCloseTo(2 * Math.log(32_768), 4);
    }
  });

  it('fbank shows a tone in the band of its frequency, for any number of bands', () => {
    const tone = Float32Array.from({ length: 4_000 }, (_, index) => Math.sin((2 * Math.PI * 1_000 * index) / 16_000));
    const mel = (hertz: number): number => 1127 * Math.log(1 + hertz / 700);
    for (const bands of [23, 40, 80]) {
      const { values } = kaldiFbank(tone, { bands });
      const frame = [...values.subarray(5 * bands, 6 * bands)];
      const place = ((mel(1_000) - mel(20)) / (mel(8_000) - mel(20))) * (bands + 1) - 1;
      expect(Math.abs(frame.indexOf(Math.max(...frame)) - place)).toBeLessThanOrEqual(1);
    }
  });

  it('fbank has zero mean in each band once the mean was subtracted', () => {
    const fbank = subtractMean(kaldiFbank(noise(8_000)));
    for (let band = 0; band < fbank.bands; band += 1) {
      const column = fbank.values.filter((_, index) => index % fbank.bands === band);
      expect(column.reduce((sum, value) => sum + value, 0) / fbank.frames).toBeCloseTo(0, 5);
    }
    expect(subtractMean(kaldiFbank(new Float32Array(0))).values).toHaveLength(0);
  });
});

interface GoldenFbank {
  readonly scale: number;
  readonly window: NonNullable<FbankOptions['window']>;
  readonly frames: number;
  readonly mean: number;
  readonly f100: readonly number[];
  readonly f200: readonly number[];
  readonly cmn_f100: readonly number[];
}

describe.skipIf(!sharedAvailable)('fbank against kaldi-native-fbank', () => {
  it.each(['jfk', 'aishell-BAC009S0724W0121'])(
    'fbank equals kaldi-native-fbank on %s to a thousandth, for every setting',
    async (name) => {
      const golden = JSON.parse(readFileSync(sharedPath('golden/kaldi_fbank80.json'), 'utf8')) as Record<
        string,
        Record<string, GoldenFbank>
      >;
      const { signal } = new AbortController();
      const { samples } = await readAudioFile(sharedPath(`audio/${name}.wav`), { sampleRate: 16_000, signal });
      const cases = Object.values(golden[name] ?? {});
      expect(cases).toHaveLength(3);
      for (const { scale, window, frames, mean, f100, f200, cmn_f100: centred } of cases) {
        const fbank = kaldiFbank(samples, { scale, window });
        const distance = (frame: number, expected: readonly number[]): number =>
          Math.max(...expected.map((value, band) => Math.abs((fbank.values[frame * 80 + band] as number) - value)));
        expect(fbank.frames).toBe(frames);
        expect(fbank.values.reduce((sum, value) => sum + value, 0) / fbank.values.length).toBeCloseTo(mean, 4);
        expect(distance(100, f100)).toBeLessThan(1e-3);
        expect(distance(200, f200)).toBeLessThan(1e-3);
        subtractMean(fbank);
        expect(distance(100, centred)).toBeLessThan(1e-3);
      }
    },
  );
});
