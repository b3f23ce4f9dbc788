import { createRealDft, type RealDft } from './dft.ts';
import { energyIn, kaldiBands, type MelBand } from './mel-bands.ts';

/** Required sample rate of the input, in hertz. */
export const fbankSampleRate = 16_000;

const frameSamples = 400;
const hopSamples = 160;
const transformSamples = 512;
const preEmphasis = 0.97;
/** FLT_EPSILON, the lower bound of energies before the logarithm. */
const leastEnergy = 1.1920929e-7;
const lowestHertz = 20;

/** Settings in which speaker models differ; a wrong one costs accuracy without any visible error. */
export interface FbankOptions {
  /** Factor applied to samples in [-1, 1] first: 32768 for models trained on 16-bit integers. Default: 1. */
  readonly scale?: number;
  /** Default: `povey`. */
  readonly window?: 'povey' | 'hamming';
  /** Default: 80. */
  readonly bands?: number;
}

/** Log energies `[frames, bands]`, one frame every 10 ms. */
export interface Fbank {
  readonly frames: number;
  readonly bands: number;
  readonly values: Float32Array<ArrayBuffer>;
}

/**
 * Kaldi's fbank of mono samples at 16 kHz (kaldi-native-fbank, torchaudio's `compliance.kaldi`):
 * frames of 25 ms entirely within the audio (`snip_edges`), no dither, mean removed, pre-emphasis
 * 0.97, 512 points, mel bands from 20 to 8000 Hz, natural logarithm. Gives `1 + floor((samples -
 * 400) / 160)` frames, none below 400 samples.
 */
export function kaldiFbank(samples: Float32Array, options: FbankOptions = {}): Fbank {
  const { scale = 1, window = 'povey', bands = 80 } = options;
  const frames = samples.length < frameSamples ? 0 : 1 + Math.floor((samples.length - frameSamples) / hopSamples);
  const values = new Float32Array(frames * bands);
  const { dft, frame, power } = workbench;
  const filters = filtersFor(bands);
  const shape = windows[window];
  for (let index = 0; index < frames; index += 1) {
    cutFrame(samples, index * hopSamples, scale, frame);
    for (let place = 0; place < frameSamples; place += 1) {
      frame[place] = (frame[place] as number) * (shape[place] as number);
    }
    dft.powerSpectrum(frame, 0, power);
    for (let band = 0; band < bands; band += 1) {
      values[index * bands + band] = Math.log(Math.max(energyIn(filters[band] as MelBand, power), leastEnergy));
    }
  }
  return { frames, bands, values };
}

/** Subtracts the mean over time from each band, in place, as speaker models expect. Returns its argument. */
export function subtractMean(fbank: Fbank): Fbank {
  const { frames, bands, values } = fbank;
  for (let band = 0; band < bands; band += 1) {
    let sum = 0;
    for (let place = band; place < values.length; place += bands) sum += values[place] as number;
    const mean = sum / frames;
    for (let place = band; place < values.length; place += bands) values[place] = (values[place] as number) - mean;
  }
  return fbank;
}

/** Writes one mean-free, pre-emphasized frame; the zero padding behind it is left as is. */
function cutFrame(samples: Float32Array, start: number, scale: number, frame: Float64Array): void {
  let sum = 0;
  for (let place = 0; place < frameSamples; place += 1) sum += samples[start + place] as number;
  const mean = sum / frameSamples;
  let before = ((samples[start] as number) - mean) * scale;
  for (let place = 0; place < frameSamples; place += 1) {
    const here = ((samples[start + place] as number) - mean) * scale;
    frame[place] = here - preEmphasis * before;
    before = here;
  }
}

/** Work buffers shared by all calls, which never overlap. */
const workbench: { readonly dft: RealDft; readonly frame: Float64Array; readonly power: Float64Array } = {
  dft: createRealDft(transformSamples),
  frame: new Float64Array(transformSamples),
  power: new Float64Array(transformSamples / 2 + 1),
};

const windows = {
  povey: Float64Array.from({ length: frameSamples }, (_, place) => (0.5 - 0.5 * cosineAt(place)) ** 0.85),
  hamming: Float64Array.from({ length: frameSamples }, (_, place) => 0.54 - 0.46 * cosineAt(place)),
} as const;

function cosineAt(place: number): number {
  return Math.cos((2 * Math.PI * place) / (frameSamples - 1));
}

const knownFilters = new Map<number, readonly MelBand[]>();

function filtersFor(bands: number): readonly MelBand[] {
  const known = knownFilters.get(bands);
  if (known !== undefined) return known;
  const shape = { sampleRate: fbankSampleRate, frameSamples: transformSamples, bands };
  const filters = kaldiBands({ ...shape, lowestHertz, highestHertz: fbankSampleRate / 2 });
  knownFilters.set(bands, filters);
  return filters;
}
