import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readAudioFile } from '../../../voices/dsp/audio-file.ts';
import { melBands, smartTurnFeatures, whisperLogMel, type LogMel } from '../../../voices/dsp/log-mel.ts';
import { whiteNoise } from '../../fakes/voice-like.ts';
import { sharedAvailable, sharedPath } from '../../shared.ts';
import { mean } from '../../../voices/dsp/statistics.ts';

describe('log-mel features', () => {
  it('log-mel features of silence of any length are at their minimum', () => {
    expect(whisperLogMel(new Float32Array(0)).frames).toBe(0);
    expect(whisperLogMel(new Float32Array(200)).frames).toBe(0);
    const { frames, values } = whisperLogMel(new Float32Array(1_639));
    expect(frames).toBe(10);
    expect(new Set(values)).toEqual(new Set([-1.5]));
  });

  it('log-mel features are the last 800 frames of a turn, however long it was', () => {
    for (const length of [0, 5, 16_000, 128_000, 400_000]) {
      const { frames, values } = smartTurnFeatures(whiteNoise(length));
      expect(frames).toBe(800);
      expect(values.length).toBe(80 * 800);
      expect(values.every((value) => Number.isFinite(value))).toBe(true);
    }
  });

  it('log-mel features do not depend on loudness', () => {
    const turn = whiteNoise(20_000, 0.3);
    const loud = smartTurnFeatures(turn).values;
    const soft = smartTurnFeatures(turn.map((value) => value / 8)).values;
    for (const [index, value] of loud.entries()) expect(Math.abs(value - (soft[index] as number))).toBeLessThan(0.01);
  });

  it('log-mel features show a tone in the band of its frequency', () => {
    const tone = Float32Array.from({ length: 16_000 }, (_, index) => Math.sin((2 * Math.PI * 1_000 * index) / 16_000));
    const { frames, values } = whisperLogMel(tone);
    const column = Array.from({ length: melBands }, (_, band) => values[band * frames + 50] as number);
    // 1 kHz is 15 of 45.2 mel, so between the 26th and the 27th of 80 bands.
    expect([25, 26]).toContain(column.indexOf(Math.max(...column)));
  });
});

interface GoldenClip {
  readonly frames: number;
  readonly mean: number;
  readonly [frame: `f${number}`]: readonly number[];
}
type Golden = Readonly<Record<string, Readonly<Record<'whisper' | 'smart_turn_8s', GoldenClip>>>>;

describe.skipIf(!sharedAvailable)('log-mel features against the reference', () => {
  const golden = sharedAvailable
    ? (JSON.parse(readFileSync(sharedPath('golden/whisper_logmel80.json'), 'utf8')) as Golden)
    : {};

  /** Largest difference from the reference's frames. */
  function distance({ frames, values }: LogMel, expected: GoldenClip): number {
    const columns = Object.entries(expected).filter(([key]) => /^f\d+$/.test(key)) as [string, readonly number[]][];
    const differences = columns.flatMap(([key, column]) =>
      column.map((value, band) => Math.abs((values[band * frames + Number(key.slice(1))] as number) - value)),
    );
    expect(differences.length).toBe(3 * 80);
    return Math.max(...differences);
  }

  const meanOf = ({ values }: LogMel): number => mean(values);

  it.each(['jfk', 'aishell-BAC009S0724W0121'])(
    'log-mel features equal the reference on %s to a thousandth',
    async (name) => {
      const { signal } = new AbortController();
      const { samples } = await readAudioFile(sharedPath(`audio/${name}.wav`), { sampleRate: 16_000, signal });
      const expected = golden[name];
      if (expected === undefined) throw new Error(`the reference has no ${name}`);
      for (const [found, reference] of [
        [whisperLogMel(samples), expected.whisper],
        [smartTurnFeatures(samples), expected.smart_turn_8s],
      ] as const) {
        expect(found.frames).toBe(reference.frames);
        expect(meanOf(found)).toBeCloseTo(reference.mean, 4);
        expect(distance(found, reference)).toBeLessThan(1e-3);
      }
    },
  );
});
