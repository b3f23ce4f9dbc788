import { createRealDft } from '../dsp/dft.ts';
import { energyIn, slaneyBands } from '../dsp/mel-bands.ts';

/** Mel bands of one frame, from 60 Hz to 7.6 kHz. */
export const frameBands = 40;

/** Time from one frame to the next. */
export const frameMs = 10;

const windowMs = 25;
const lowestHertz = 60;
const highestHertz = 7_600;
/** Energies are clamped so far below the level of the voice, in decades. */
const rangeDecades = 8;
/** Values become about -2 to 2. */
const middleDecades = 4.5;
const spreadDecades = 1.5;
/** Level of a voice that has not been heard yet: the usual loudness of our engines, as log10 of the power. */
const usualLevel = -1.6;
/** Decay of the remembered level of a voice, in decades a frame. */
const levelFall = 0.0005;

/**
 * Log-mel frames of a stream of speech, one every 10 ms, each from the 25 ms that end with it: it looks ahead at nothing.
 * Values are relative to the loudest frame so far, from about -2 to 2, so that gain matters little.
 */
export class MelFrames {
  readonly #rate: number;
  readonly #window: number;
  readonly #analysis: ReturnType<typeof analysisFor>;
  #held: Float32Array;
  /** Frames made so far, and the sample at which `#held` begins. */
  #made = 0;
  #from: number;
  #level = usualLevel;

  /** `sampleRate` in hertz, from 8000. */
  constructor(sampleRate: number) {
    this.#rate = sampleRate;
    this.#window = windowOf(sampleRate);
    this.#analysis = analysisFor(sampleRate);
    // Silence before the beginning fills the first windows.
    this.#held = new Float32Array(this.#window);
    this.#from = -this.#window;
  }

  /** Takes the next samples; returns the frames that they complete. */
  push(samples: Float32Array): Float32Array[] {
    const held = new Float32Array(this.#held.length + samples.length);
    held.set(this.#held);
    held.set(samples, this.#held.length);
    const frames: Float32Array[] = [];
    for (;;) {
      const end = Math.round(((this.#made + 1) * frameMs * this.#rate) / 1000);
      if (end > this.#from + held.length) break;
      frames.push(this.#frame(held, end - this.#window - this.#from));
      this.#made += 1;
    }
    const needed = Math.round(((this.#made + 1) * frameMs * this.#rate) / 1000) - this.#window;
    const drop = Math.max(0, Math.min(held.length, needed - this.#from));
    this.#held = held.slice(drop);
    this.#from += drop;
    return frames;
  }

  #frame(held: Float32Array, start: number): Float32Array {
    const { dft, hann, bands, windowed, power, scale } = this.#analysis;
    let sum = 0;
    for (let index = 0; index < this.#window; index += 1) {
      const sample = held[start + index] as number;
      sum += sample * sample;
      windowed[index] = sample * (hann[index] as number);
    }
    dft.powerSpectrum(windowed, 0, power);
    this.#level = Math.max(this.#level - levelFall, Math.log10(sum / this.#window + 1e-8));
    const frame = new Float32Array(frameBands);
    for (const [band, filter] of bands.entries()) {
      const value = Math.log10(energyIn(filter, power) * scale + 1e-12) - this.#level;
      frame[band] = (Math.max(-rangeDecades, value) + middleDecades) / spreadDecades;
    }
    return frame;
  }
}

function windowOf(sampleRate: number): number {
  return 2 * Math.round((windowMs * sampleRate) / 2_000);
}

const known = new Map<number, ReturnType<typeof createAnalysis>>();

/** The work buffers of a rate are shared by all streams, whose calls never overlap. */
function analysisFor(sampleRate: number): ReturnType<typeof createAnalysis> {
  const made = known.get(sampleRate) ?? createAnalysis(sampleRate);
  known.set(sampleRate, made);
  return made;
}

function createAnalysis(sampleRate: number) {
  const frameSamples = windowOf(sampleRate);
  const hann = Float64Array.from({ length: frameSamples }, (_, index) => {
    return 0.5 - 0.5 * Math.cos((2 * Math.PI * index) / frameSamples);
  });
  const shape = { sampleRate, frameSamples, bands: frameBands, lowestHertz };
  return {
    dft: createRealDft(frameSamples),
    hann,
    bands: slaneyBands({ ...shape, highestHertz: Math.min(highestHertz, sampleRate / 2) }),
    windowed: new Float64Array(frameSamples),
    power: new Float64Array(frameSamples / 2 + 1),
    /** The sum of Slaney's bands is a density in hertz. */
    scale: 100 / frameSamples ** 2,
  };
}
