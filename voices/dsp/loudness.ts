import { mean } from './statistics.ts';

/** Target level of every voice: -20 dBFS, measured over the non-silent parts. */
const targetLevel = 0.1;
/** Peaks above this level are compressed, so that nothing clips. */
const kneeLevel = 0.7;
const windowSamples = 256;
/** Windows whose level is below this fraction of the loudest count as pauses. */
const soundRatio = 0.03;
const mostGain = 16;

/**
 * Gain that brings speech like this sample of a voice to -20 dBFS, ignoring pauses; 1 for silence, at most 16. Computed
 * once per voice: adapting to every phrase would make whispers and shouts equally loud.
 */
export function gainFor(sample: Float32Array): number {
  const powers: number[] = [];
  for (let start = 0; start + windowSamples <= sample.length; start += windowSamples) {
    const block = sample.subarray(start, start + windowSamples);
    powers.push(block.reduce((sum, value) => sum + value * value, 0) / windowSamples);
  }
  const loudest = powers.reduce((most, power) => Math.max(most, power), 0);
  if (loudest === 0) return 1;
  const sounding = powers.filter((power) => power >= loudest * soundRatio ** 2);
  const power = mean(sounding);
  return Math.min(mostGain, targetLevel / Math.sqrt(power));
}

/** Multiplies in place; soft-limits peaks, which stay below 1. Returns its argument. */
export function applyGain(samples: Float32Array<ArrayBuffer>, gain: number): Float32Array<ArrayBuffer> {
  const room = 1 - kneeLevel;
  for (let index = 0; index < samples.length; index += 1) {
    const value = (samples[index] as number) * gain;
    const size = Math.abs(value);
    samples[index] =
      size <= kneeLevel ? value : Math.sign(value) * (kneeLevel + room * Math.tanh((size - kneeLevel) / room) * 0.98);
  }
  return samples;
}
