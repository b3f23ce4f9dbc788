import { describe, expect, it } from 'vitest';
import { applyGain, gainFor } from '../../../voices/dsp/loudness.ts';
import { pauseAfterMs, trimSilence } from '../../../voices/dsp/trim-silence.ts';

const sampleRate = 16_000;

/** A tone between two silences, in milliseconds. */
function toneWithin(beforeMs: number, toneMs: number, afterMs: number, size = 0.3): Float32Array<ArrayBuffer> {
  const at = (milliseconds: number): number => (milliseconds * sampleRate) / 1000;
  const samples = new Float32Array(at(beforeMs + toneMs + afterMs));
  for (let index = at(beforeMs); index < at(beforeMs + toneMs); index += 1)
    samples[index] = size * Math.sin(index * 0.1);
  return samples;
}

describe('silence around speech', () => {
  it('silence around speech is cut to the margins', () => {
    const { samples, cutMs, endMs } = trimSilence(toneWithin(300, 500, 400), sampleRate, { leadMs: 40, tailMs: 100 });
    expect((samples.length / sampleRate) * 1000).toBeCloseTo(640, -1);
    expect(cutMs).toBeCloseTo(260, -1);
    expect(endMs).toBeCloseTo(540, -1);
    expect(samples.slice(0, 600).every((value) => Math.abs(value) < 0.01)).toBe(true);
    expect(Math.max(...samples.slice(640, 1200))).toBeGreaterThan(0.25);
  });

  it('silence is added after speech that ends too soon, and never before it', () => {
    const { samples, cutMs } = trimSilence(toneWithin(0, 500, 0), sampleRate, { leadMs: 40, tailMs: 100 });
    expect(samples.length).toBe(sampleRate * 0.6);
    expect(cutMs).toBe(0);
    expect(samples.slice(-1600).every((value) => value === 0)).toBe(true);
  });

  it('pauses inside speech are kept', () => {
    const twice = new Float32Array([...toneWithin(200, 300, 500), ...toneWithin(0, 300, 200)]);
    const { samples } = trimSilence(twice, sampleRate, { leadMs: 0, tailMs: 0 });
    expect((samples.length / sampleRate) * 1000).toBeCloseTo(1100, -1);
  });

  it('audio without speech is removed altogether', () => {
    const silence = trimSilence(new Float32Array(8000), sampleRate, { leadMs: 40, tailMs: 100 });
    expect(silence).toEqual({ samples: new Float32Array(0), cutMs: 500, endMs: 0 });
    expect(trimSilence(new Float32Array(0), sampleRate, { leadMs: 40, tailMs: 100 }).samples.length).toBe(0);
  });

  it('the silence after a sentence is longer than after a clause, and shortest within a clause', () => {
    const pauses = ['and then', 'and then, ', 'and then. ', 'and then.”\n\n'].map(pauseAfterMs);
    expect(pauses).toEqual(pauses.toSorted((a, b) => a - b));
    expect(new Set(pauses).size).toBe(4);
    expect(pauseAfterMs('来吧！')).toBe(pauseAfterMs('Come!'));
  });
});

describe('loudness', () => {
  it('loud and quiet voices are brought to the same level, with any pauses', () => {
    const level = (samples: Float32Array): number => Math.max(...samples.map(Math.abs));
    const quiet = toneWithin(100, 500, 100, 0.02);
    const loud = toneWithin(0, 500, 2000, 0.6);
    expect(level(applyGain(quiet, gainFor(quiet)))).toBeCloseTo(level(applyGain(loud, gainFor(loud))), 2);
  });

  it('raising the loudness never clips', () => {
    const samples = applyGain(toneWithin(0, 500, 0, 0.9), 10);
    expect(Math.max(...samples.map(Math.abs))).toBeLessThan(1);
    expect(Math.max(...samples.map(Math.abs))).toBeGreaterThan(0.7);
  });

  it('silence is not amplified', () => {
    expect(gainFor(new Float32Array(4000))).toBe(1);
    expect(gainFor(new Float32Array(0))).toBe(1);
  });
});
