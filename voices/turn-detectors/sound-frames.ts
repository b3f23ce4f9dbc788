import { createRealDft } from '../dsp/dft.ts';
import { energyIn, slaneyBands } from '../dsp/mel-bands.ts';
import { semitones, trackPitch } from '../dsp/pitch.ts';
import { resample } from '../dsp/resampler.ts';
import { median } from '../dsp/statistics.ts';

/** Values of one frame: pitch, whether there is one, level, and bands up to 3.4 kHz, as the telephone has. */
export const frameValues = 11;
/** Frames of 20 ms, 2.4 s, that end with the speech. */
export const frameCount = 120;

const workingRate = 8_000;
const hopSamples = 160;
const windowSamples = 256;
const bands = slaneyBands({
  sampleRate: workingRate,
  frameSamples: windowSamples,
  bands: 8,
  lowestHertz: 80,
  highestHertz: 3_400,
});
const hann = Float64Array.from({ length: windowSamples }, (_, index) => {
  return 0.5 - 0.5 * Math.cos((2 * Math.PI * index) / windowSamples);
});
const dft = createRealDft(windowSamples);
/** Levels are clamped at this distance below the loudest, because quieter ones are the room and not the voice. */
const rangeDecibels = 35;
/** Audio that is looked at: enough to know the speaker's pitch and loudness. */
const lookedAtMs = 3_000;
/** Kept after the last speech: its decay. */
const tailHops = 4;

/**
 * Describes the sound before a pause, from turn audio at any sample rate: `frameCount` frames of `frameValues` values, each
 * about -3.5 to 2, the last at the end of the speech; zeros before its beginning. The pitch is relative to the speaker's
 * median, in octaves, levels to the loudest, in units of 10 dB, so that voice, gain and room matter little. Takes a few
 * milliseconds; pure.
 */
export function soundFrames({ samples, sampleRate }: { samples: Float32Array; sampleRate: number }): Float32Array {
  const frames = new Float32Array(frameCount * frameValues);
  const looked = resample(samples.slice(-Math.ceil((lookedAtMs / 1000) * sampleRate)), sampleRate, workingRate);
  const { hertz, levels } = trackPitch(looked, workingRate);
  const sounding = soundingLevel(levels);
  const last = levels.findLastIndex((level) => level > sounding);
  const voiced = [...hertz].filter((value) => value > 0);
  if (last < 0) return frames;
  const middle = voiced.length === 0 ? 0 : median(voiced);
  const loudest = Math.max(...levels);
  const spectra: Float64Array[] = [];
  let mostEnergy = -Infinity;
  const end = Math.min(levels.length, last + 1 + tailHops);
  const count = Math.min(frameCount, Math.floor(end / 2));
  for (let index = 0; index < count; index += 1) {
    const hop = end - 2 * (count - index);
    const spectrum = bandLevels(looked, hop * (hopSamples / 2));
    mostEnergy = Math.max(mostEnergy, ...spectrum);
    spectra.push(spectrum);
    const place = (frameCount - count + index) * frameValues;
    const pitch = [hertz[hop], hertz[hop + 1]].find((value) => value !== undefined && value > 0) ?? 0;
    frames[place] = pitch === 0 ? 0 : clip(semitones(pitch, middle) / 12, -1.5, 1.5);
    frames[place + 1] = pitch === 0 ? 0 : 1;
    frames[place + 2] = relative(Math.max(levels[hop] ?? -100, levels[hop + 1] ?? -100), loudest);
  }
  for (const [index, spectrum] of spectra.entries()) {
    const place = (frameCount - count + index) * frameValues + 3;
    for (const [band, level] of spectrum.entries()) frames[place + band] = relative(level, mostEnergy);
  }
  return frames;
}

/** Above it a hop is speech: 30 dB below the loudest, or well above the room. */
function soundingLevel(levels: Float32Array): number {
  const sorted = [...levels].toSorted((a, b) => a - b);
  const room = sorted[Math.floor(sorted.length * 0.1)] ?? -100;
  const loudest = sorted.at(-1) ?? -100;
  return Math.max(loudest - 30, room + 0.35 * (loudest - room), -70);
}

function bandLevels(sound: Float32Array, from: number): Float64Array {
  const windowed = new Float64Array(windowSamples);
  const start = Math.round(from - (windowSamples - hopSamples) / 2);
  for (let index = 0; index < windowSamples; index += 1) {
    windowed[index] = (sound[start + index] ?? 0) * (hann[index] as number);
  }
  const power = new Float64Array(windowSamples / 2 + 1);
  dft.powerSpectrum(windowed, 0, power);
  return Float64Array.from(bands, (band) => 10 * Math.log10(energyIn(band, power) + 1e-10));
}

function relative(level: number, loudest: number): number {
  return Math.max(-rangeDecibels, level - loudest) / 10;
}

function clip(value: number, lowest: number, highest: number): number {
  return Math.min(highest, Math.max(lowest, value));
}
