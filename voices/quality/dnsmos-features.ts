import { concatSamples } from '../audio.ts';
import { createTwinDft } from '../dsp/dft.ts';
import { energyIn, slaneyBands } from '../dsp/mel-bands.ts';

/** Input of both DNSMOS models: 16 kHz, windows of 9.01 s, one starting every second. */
export const dnsmosSampleRate = 16_000;
export const dnsmosWindowSamples = 144_160;
/** `[900, 120]`: input shape of the P.808 model for one window. */
export const dnsmosFrames = 900;
export const dnsmosBands = 120;

/** Odd, 3 × 107: neither a power of two nor padding would give the same result. */
const frameSamples = 321;
const hopSamples = 160;
const edgeSamples = frameSamples >> 1;
const windowSeconds = 9.01;
const leastPower = 1e-10;
const rangeDecibels = 80;

const dft = createTwinDft(frameSamples);
const hann = Float64Array.from({ length: frameSamples }, (_, index) => {
  return 0.5 - 0.5 * Math.cos((2 * Math.PI * index) / frameSamples);
});
const filters = slaneyBands({ sampleRate: dnsmosSampleRate, frameSamples, bands: dnsmosBands, highestHertz: 8_000 });
const frames: [Float64Array, Float64Array] = [new Float64Array(frameSamples), new Float64Array(frameSamples)];
const powers = [new Float64Array(edgeSamples + 1), new Float64Array(edgeSamples + 1)] as const;

/**
 * Windows of a recording at 16 kHz (microsoft/DNS-Challenge `dnsmos_local.py`): a short one is doubled as a whole until
 * it fills a window; then one window starts every second, except for a few, see `isWhole`. None if there are no
 * samples.
 */
export function dnsmosWindows(samples: Float32Array): Float32Array[] {
  if (samples.length === 0) return [];
  let sound = samples;
  while (sound.length < dnsmosWindowSamples) sound = concatSamples([sound, sound]);
  const count = Math.trunc(Math.floor(sound.length / dnsmosSampleRate) - windowSeconds) + 1;
  const starts = Array.from({ length: count }, (_, index) => index).filter(isWhole);
  return starts.map((index) => {
    return sound.subarray(index * dnsmosSampleRate, index * dnsmosSampleRate + dnsmosWindowSamples);
  });
}

/**
 * Features of the P.808 model for one window, without its last 10 ms: librosa's `melspectrogram` with 321 points (zeros
 * at the ends, periodic Hann window, power, 120 Slaney bands up to 8 kHz) in decibels below the loudest, 80 at most, as
 * `(db + 40) / 40`, so -1 to 1. In the order `[frame, band]`.
 */
export function dnsmosMel(window: Float32Array): Float32Array<ArrayBuffer> {
  const sound = window.subarray(0, dnsmosFrames * hopSamples);
  const values = new Float32Array(dnsmosFrames * dnsmosBands);
  let loudest = leastPower;
  for (let frame = 0; frame < dnsmosFrames; frame += 2) {
    cutFrame(sound, frame, frames[0]);
    cutFrame(sound, frame + 1, frames[1]);
    dft.powerSpectra(...frames, ...powers);
    for (const [place, power] of powers.entries()) {
      for (const [band, filter] of filters.entries()) {
        const energy = Math.max(leastPower, energyIn(filter, power));
        loudest = Math.max(loudest, energy);
        values[(frame + place) * dnsmosBands + band] = 10 * Math.log10(energy);
      }
    }
  }
  const top = 10 * Math.log10(loudest);
  for (let index = 0; index < values.length; index += 1) {
    values[index] = (Math.max((values[index] as number) - top, -rangeDecibels) + 40) / 40;
  }
  return values;
}

/** For comparable scores: the reference drops windows that float arithmetic makes a sample short, first the 8th. */
function isWhole(index: number): boolean {
  return Math.trunc((index + windowSeconds) * dnsmosSampleRate) - index * dnsmosSampleRate >= dnsmosWindowSamples;
}

function cutFrame(sound: Float32Array, frame: number, target: Float64Array): void {
  const start = frame * hopSamples - edgeSamples;
  for (let index = 0; index < frameSamples; index += 1) {
    target[index] = (sound[start + index] ?? 0) * (hann[index] as number);
  }
}
