import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readAudioFile } from '../../../voices/dsp/audio-file.ts';
import { dnsmosMel, dnsmosWindows, dnsmosWindowSamples } from '../../../voices/quality/dnsmos-features.ts';
import { sharedAvailable, sharedPath } from '../../shared.ts';
import { mean } from '../../../voices/dsp/statistics.ts';

describe('windows of DNSMOS', () => {
  it.each([
    ['nothing', 0, 0],
    ['9 s, which is a hundredth short, and so doubled; upstream leaves two out', 144_000, 7],
    ['one window to the sample', 144_160, 1],
    ['10 s', 160_000, 1],
    ['11 s', 176_000, 2],
    ['4.2 s, doubled to 16.8', 67_200, 7],
  ])('DNSMOS divides a recording into 9-second windows: %s', (_, length, count) => {
    const windows = dnsmosWindows(new Float32Array(length));
    expect(windows).toHaveLength(count);
    expect(windows.every((window) => window.length === dnsmosWindowSamples)).toBe(true);
  });

  it('DNSMOS repeats a short recording as a whole, and starts its windows a second apart', () => {
    const sound = Float32Array.from({ length: 50_000 }, (_, index) => index);
    const windows = dnsmosWindows(sound);
    expect(windows).toHaveLength(3);
    expect(windows[0]?.[50_000]).toBe(0);
    expect(windows[1]?.[0]).toBe(16_000);
    expect(windows[2]?.[30_000]).toBe((2 * 16_000 + 30_000) % 50_000);
  });
});

describe('mel features of DNSMOS', () => {
  it('DNSMOS mel features span the 80 dB below the loudest', () => {
    const tone = Float32Array.from({ length: dnsmosWindowSamples }, (_, index) => Math.sin(index / 3));
    const values = dnsmosMel(tone);
    expect(values).toHaveLength(900 * 120);
    expect(Math.max(...values)).toBeCloseTo(1, 6);
    expect(Math.min(...values)).toBeCloseTo(-1, 6);
  });

  it('DNSMOS mel features of silence are all equal', () => {
    expect(new Set(dnsmosMel(new Float32Array(dnsmosWindowSamples)))).toEqual(new Set([1]));
  });

  it.skipIf(!sharedAvailable)('DNSMOS mel features equal librosa’s on a recording to a thousandth', async () => {
    const golden = JSON.parse(readFileSync(sharedPath('golden/dnsmos_p808_mel_jfk.json'), 'utf8')) as {
      readonly frame0: readonly number[];
      readonly frame450: readonly number[];
      readonly mean: number;
    };
    const { signal } = new AbortController();
    const { samples } = await readAudioFile(sharedPath('audio/jfk.wav'), { sampleRate: 16_000, signal });
    const values = dnsmosMel(samples.subarray(0, dnsmosWindowSamples));
    for (const [frame, expected] of [
      [0, golden.frame0],
      [450, golden.frame450],
    ] as const) {
      for (const [band, value] of expected.entries()) {
        expect(Math.abs((values[frame * 120 + band] as number) - value)).toBeLessThan(1e-3);
      }
    }
    expect(mean(values)).toBeCloseTo(golden.mean, 5);
  });
});
