import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readAudioFile } from '../../../voices/dsp/audio-file.ts';
import { kaldiFbank, subtractMean, type FbankOptions } from '../../../voices/dsp/fbank.ts';
import { whiteNoise } from '../../fakes/voice-like.ts';
import { sharedAvailable, sharedPath } from '../../shared.ts';

describe('Kaldi fbank', () => {
  it('fbank has a frame wherever 25 ms fit in', () => {
    expect([0, 399, 400, 559, 560, 16_000].map((length) => kaldiFbank(whiteNoise(length)).frames)).toEqual([
      0, 0, 1, 1, 2, 98,
    ]);
  });

  it('fbank of silence is at its minimum', () => {
    const { values } = kaldiFbank(new Float32Array(1_600));
    expect(values).toHaveLength(8 * 80);
    for (const value of values) expect(value).toBeCloseTo(-15.9424, 4);
  });

  it('fbank ignores an offset and scales as the logarithm does', () => {
    const sound = whiteNoise(4_000);
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
    const fbank = subtractMean(kaldiFbank(whiteNoise(8_000)));
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
