import { resample } from './resampler.ts';
import { median } from './statistics.ts';

/** Pitch of a voice over time, one value every `hopMs`. */
export interface PitchTrack {
  readonly hopMs: number;
  /** Fundamental frequency in hertz around the middle of each hop, 60 to 500; 0 if the hop has no pitch. */
  readonly hertz: Float32Array;
  /** RMS level of each hop in dBFS, at least -100. */
  readonly levels: Float32Array;
}

const workingRate = 8_000;
const lowestHertz = 60;
const highestHertz = 500;
const hopSamples = 80;
/** Lags in samples; the comparison covers two periods of the lowest voice, one against the next. */
const shortestLag = Math.floor(workingRate / highestHertz);
const longestLag = Math.ceil(workingRate / lowestHertz);
const compared = longestLag;
/** The first dip below `goodDip` is the period (YIN); if even the deepest dip is above `leastDip`, there is none. */
const goodDip = 0.15;
const leastDip = 0.35;
/** Hops this far below the loudest are silence, breath or room noise. */
const quietDecibels = 35;
/** A pitch further than this from its neighbours is an octave error. */
const jumpSemitones = 5;
const around = 4;

/**
 * Tracks pitch by YIN (de Cheveigné and Kawahara 2002) on the audio at 8 kHz: finds the shortest lag at which a segment
 * resembles the next. Then removes values that are isolated or far from the median around them. Meant for the last
 * seconds of a turn: one second of audio takes about 1 ms. Accepts any sample rate that `resample` accepts.
 */
export function trackPitch(samples: Float32Array, sampleRate: number): PitchTrack {
  const sound = resample(samples, sampleRate, workingRate);
  const hops = Math.floor(sound.length / hopSamples);
  const levels = Float32Array.from({ length: hops }, (_, hop) =>
    decibels(sound.subarray(hop * hopSamples, (hop + 1) * hopSamples)),
  );
  const loudest = levels.reduce((most, level) => Math.max(most, level), -100);
  const raw = new Float32Array(hops);
  const dips = new Float32Array(longestLag + 2);
  for (let hop = 0; hop < hops; hop += 1) {
    if ((levels[hop] as number) < Math.max(-90, loudest - quietDecibels)) continue;
    const start = hop * hopSamples + hopSamples / 2 - (compared + longestLag) / 2;
    if (start < 0 || start + compared + longestLag + 2 > sound.length) continue;
    raw[hop] = periodicity(sound, Math.floor(start), dips);
  }
  return { hopMs: (hopSamples / workingRate) * 1000, hertz: withoutJumps(raw), levels };
}

/** Signed distance between two pitches; 12 is an octave. */
export function semitones(hertz: number, fromHertz: number): number {
  return 12 * Math.log2(hertz / fromHertz);
}

function decibels(block: Float32Array): number {
  const power = block.reduce((sum, value) => sum + value * value, 0) / block.length;
  return Math.max(-100, 10 * Math.log10(power + 1e-12));
}

/** YIN at one position: hertz, or 0. `dips` is a work buffer for the normalised differences. */
function periodicity(sound: Float32Array, start: number, dips: Float32Array): number {
  const lag = findDip(sound, start, dips);
  if (lag === 0) return 0;
  const [before, here, after] = [dips[lag - 1], dips[lag], dips[lag + 1]] as [number, number, number];
  const bend = before - 2 * here + after;
  return workingRate / (lag + (bend > 0 ? (before - after) / (2 * bend) : 0));
}

/** Computes lag after lag until a dip is good: most voices need less than half of them. */
function findDip(sound: Float32Array, start: number, dips: Float32Array): number {
  let deepest = 0;
  let sum = 0;
  dips[0] = 1;
  for (let lag = 1; lag < dips.length; lag += 1) {
    const place = (lag - 1) % atOnce;
    if (place === 0) compareLags(sound, start, lag);
    const difference = differences[place] as number;
    sum += difference;
    dips[lag] = sum === 0 ? 1 : (difference * lag) / sum;
    const candidate = lag - 1;
    if (candidate < shortestLag) continue;
    const here = dips[candidate] as number;
    if (here > (dips[candidate - 1] as number) || here > (dips[lag] as number)) continue;
    if (here < goodDip) return candidate;
    if (deepest === 0 || here < (dips[deepest] as number)) deepest = candidate;
  }
  return deepest > 0 && (dips[deepest] as number) < leastDip ? deepest : 0;
}

/** Lags are compared four at a time, so that the processor need not wait for one sum after the other. */
const atOnce = 4;
const differences = new Float64Array(atOnce);

function compareLags(sound: Float32Array, start: number, lag: number): void {
  let one = 0;
  let two = 0;
  let three = 0;
  let four = 0;
  for (let index = start; index < start + compared; index += 1) {
    const here = sound[index] as number;
    const first = here - (sound[index + lag] as number);
    const second = here - (sound[index + lag + 1] as number);
    const third = here - (sound[index + lag + 2] as number);
    const fourth = here - (sound[index + lag + 3] as number);
    one += first * first;
    two += second * second;
    three += third * third;
    four += fourth * fourth;
  }
  differences[0] = one;
  differences[1] = two;
  differences[2] = three;
  differences[3] = four;
}

function withoutJumps(raw: Float32Array): Float32Array {
  return raw.map((hertz, hop) => {
    if (hertz === 0) return 0;
    const near = raw.subarray(Math.max(0, hop - around), hop + around + 1).filter((value) => value > 0);
    return near.length >= 3 && Math.abs(semitones(hertz, median(near))) <= jumpSemitones ? hertz : 0;
  });
}
