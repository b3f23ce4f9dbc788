import { describe, expect, it } from 'vitest';
import { readAudioFile } from '../../../voices/dsp/audio-file.ts';
import { semitones, trackPitch } from '../../../voices/dsp/pitch.ts';
import { whiteNoise } from '../../fakes/voice-like.ts';
import { sharedAvailable, sharedPath } from '../../shared.ts';

/** A voice with eight harmonics, the second stronger than the first, whose pitch glides linearly. */
function voice(fromHertz: number, toHertz: number, seconds: number, sampleRate = 16_000): Float32Array {
  let phase = 0;
  const length = Math.round(seconds * sampleRate);
  return Float32Array.from({ length }, (_, index) => {
    phase += (fromHertz + ((toHertz - fromHertz) * index) / length) / sampleRate;
    let value = 0;
    for (let harmonic = 1; harmonic <= 8; harmonic += 1) {
      value += ((harmonic === 2 ? 2 : 1) / harmonic) * Math.sin(2 * Math.PI * harmonic * phase);
    }
    return 0.1 * value;
  });
}

const voicedOf = (hertz: Float32Array): number[] => [...hertz].filter((value) => value > 0);

describe('pitch tracker', () => {
  it.each([70, 100, 150, 220, 330, 450])(
    'the pitch tracker finds a voice of %i Hz to a tenth of a semitone',
    (hertz) => {
      const { hertz: track } = trackPitch(voice(hertz, hertz, 0.5), 16_000);
      const voiced = voicedOf(track);
      expect(voiced.length).toBeGreaterThan(40);
      for (const value of voiced) expect(Math.abs(semitones(value, hertz))).toBeLessThan(0.1);
    },
  );

  it.each([
    [200, 120],
    [100, 180],
  ])('the pitch tracker follows a glide from %i to %i Hz', (from, to) => {
    const { hertz, hopMs } = trackPitch(voice(from, to, 1), 16_000);
    expect(hopMs).toBe(10);
    expect(hertz.length).toBe(100);
    for (const [hop, value] of hertz.entries()) {
      if (value > 0) expect(Math.abs(semitones(value, from + ((to - from) * (hop + 0.5)) / 100))).toBeLessThan(0.3);
    }
    expect(voicedOf(hertz).length).toBeGreaterThan(90);
  });

  it('the pitch tracker finds the same pitch at other sample rates and in some noise', () => {
    const spoken = voice(180, 180, 0.5, 24_000);
    const hiss = whiteNoise(spoken.length, 0.02);
    const { hertz } = trackPitch(
      spoken.map((value, index) => value + (hiss[index] as number)),
      24_000,
    );
    const voiced = voicedOf(hertz);
    expect(voiced.length).toBeGreaterThan(40);
    for (const value of voiced) expect(Math.abs(semitones(value, 180))).toBeLessThan(0.3);
  });

  it('the pitch tracker finds no pitch in noise, in silence, or in almost no audio', () => {
    expect(voicedOf(trackPitch(whiteNoise(16_000, 0.2), 16_000).hertz)).toEqual([]);
    expect(voicedOf(trackPitch(new Float32Array(16_000), 16_000).hertz)).toEqual([]);
    expect(voicedOf(trackPitch(new Float32Array(16_000).fill(0.3), 16_000).hertz)).toEqual([]);
    expect(trackPitch(new Float32Array(3), 16_000).hertz.length).toBe(0);
    expect(trackPitch(new Float32Array(0), 16_000).levels.length).toBe(0);
  });

  it('the pitch tracker reports the level of each hop', () => {
    const { levels } = trackPitch(new Float32Array(16_000).fill(0.1, 0, 8_000), 16_000);
    expect(levels[20]).toBeCloseTo(-20, 0);
    expect(levels[80]).toBe(-100);
  });

  it.skipIf(!sharedAvailable)('the pitch tracker finds the pitch of an excited and of a calm speaker', async () => {
    const { signal } = new AbortController();
    for (const [file, low, high] of [
      ['jfk.wav', 150, 270],
      ['zh-speaker1-a.wav', 70, 130],
    ] as const) {
      const { samples } = await readAudioFile(sharedPath(`audio/${file}`), { sampleRate: 16_000, signal });
      const voiced = voicedOf(trackPitch(samples, 16_000).hertz).toSorted((a, b) => a - b);
      expect(voiced.length).toBeGreaterThan(100);
      expect(voiced[voiced.length >> 1]).toBeGreaterThan(low);
      expect(voiced[voiced.length >> 1]).toBeLessThan(high);
    }
  });
});
