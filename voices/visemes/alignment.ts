import { frameBands, MelFrames } from './mel-frames.ts';

/** Cepstral coefficients beside the energy: six tell sounds apart; more would tell voices apart. */
const cepstra = 6;
const columns = cepstra + 1;
/** Frames on each side over which a slope is taken. */
const slopeFrames = 2;
/** Weights beside one coefficient: the energy knows best where sounds begin. */
const energyWeight = 4;
const slopeWeight = 0.7;
const size = 2 * columns;

/** Cost of staying in a frame of the reference, or of skipping one: half of it is the tempo, half a wrong path. */
const stepCost = 0.2;
/** Tempo of the sound against the reference, from slowest to fastest. */
const slowest = 0.6;
const fastest = 1.6;
/** A pause or a missing word may shift the sound so far, in frames: 25 % of a line of 1.2 s. */
const slackFrames = 30;
/** Frames over which the distance is averaged before it counts as a mistake. */
const smoothFrames = 15;
/** A sound that is no pause, during which the reference advances so little in so many frames, is no speech of it. */
const stuckFrames = 40;
const leastAdvance = 5;
const stuckDistance = 2;

/** Features of a sound that grows: cepstrum and energy of each frame of 10 ms, from 40 log-mel bands. */
export class SoundFeatures {
  readonly #mel: MelFrames;
  readonly #cepstra: Float32Array[] = [];

  /** `sampleRate` in hertz, from 8000. */
  constructor(sampleRate: number) {
    this.#mel = new MelFrames(sampleRate);
  }

  get frames(): number {
    return this.#cepstra.length;
  }

  push(samples: Float32Array): void {
    for (const bands of this.#mel.push(samples)) this.#cepstra.push(cepstrumOf(bands));
  }

  /** All frames with their slopes, each value with a mean of 0 and a fixed variance, so that voices can be compared. */
  standardized(): Float32Array {
    const { frames } = this;
    const values = new Float32Array(frames * size);
    for (let index = 0; index < frames; index += 1) {
      for (let column = 0; column < columns; column += 1) {
        values[index * size + column] = this.#at(index, column);
        let slope = 0;
        for (let step = 1; step <= slopeFrames; step += 1)
          slope += step * (this.#at(index + step, column) - this.#at(index - step, column));
        values[index * size + columns + column] = slope;
      }
    }
    for (let column = 0; column < size; column += 1) {
      const weight = (column % columns === 0 ? energyWeight : 1) * (column < columns ? 1 : slopeWeight);
      standardize(values, column, weight);
    }
    return values;
  }

  #at(index: number, column: number): number {
    const frame = this.#cepstra[Math.min(Math.max(index, 0), this.frames - 1)] as Float32Array;
    return frame[column] as number;
  }
}

/** Rows of the discrete cosine transform. */
const cosines = Array.from({ length: columns }, (_, order) =>
  Float64Array.from({ length: frameBands }, (_each, band) => Math.cos((Math.PI * order * (band + 0.5)) / frameBands)),
);

function cepstrumOf(bands: Float32Array): Float32Array {
  return Float32Array.from(cosines, (row) =>
    bands.reduce((sum, band, index) => sum + band * (row[index] as number), 0),
  );
}

function standardize(values: Float32Array, column: number, weight: number): void {
  const frames = values.length / size;
  let [sum, squares] = [0, 0];
  for (let at = column; at < values.length; at += size) {
    const value = values[at] as number;
    sum += value;
    squares += value * value;
  }
  const mean = sum / frames;
  const factor = Math.sqrt(weight / Math.max(1e-9, squares / frames - mean * mean));
  for (let at = column; at < values.length; at += size) values[at] = ((values[at] as number) - mean) * factor;
}

/** Where in a reference each frame of a sound is. */
export interface Alignment {
  /** Frame of the reference, for each frame of the sound; never falls. */
  readonly places: Int32Array;
  /** Distance between the two around each frame: about 0.8 for the same words in two voices. */
  readonly distances: Float32Array;
}

/**
 * Aligns a sound, of which the end may be missing, with a reference that says the same words: dynamic time warping over
 * standardized features. The tempo may differ by 0.6 to 1.6 and the beginning by 300 ms. `near`: the places of a shorter
 * part of the same sound, from which the new ones differ by 300 ms at most.
 */
export function align(reference: Float32Array, sound: Float32Array, near: Int32Array = new Int32Array(0)): Alignment {
  const rows = reference.length / size;
  const length = sound.length / size;
  const steps = new Uint8Array(rows * length);
  let before = new Float64Array(rows).fill(Infinity);
  let now = new Float64Array(rows).fill(Infinity);
  for (let column = 0; column < length; column += 1) {
    const from = Math.min(column, Math.max(0, near.length - 1));
    const place = near[from] ?? 0;
    const low = Math.min(rows - 1, Math.max(0, Math.floor(place + (column - from) * slowest) - slackFrames));
    const high = Math.min(rows - 1, Math.ceil(place + (column - from) * fastest) + slackFrames);
    now.fill(Infinity);
    for (let row = low; row <= high; row += 1) {
      let [best, step] = [column === 0 ? stepCost * row : (before[row] as number) + stepCost, 0];
      const mostSkipped = column === 0 ? 0 : Math.min(3, row);
      for (let skip = 1; skip <= mostSkipped; skip += 1) {
        const cost = (before[row - skip] as number) + (skip === 1 ? 0 : stepCost * (2 * skip - 3));
        if (cost < best) [best, step] = [cost, skip];
      }
      now[row] = best + distance(reference, row, sound, column);
      steps[column * rows + row] = step;
    }
    [before, now] = [now, before];
  }
  const places = new Int32Array(length);
  let row = before.indexOf(before.reduce((least, cost) => Math.min(least, cost), Infinity));
  for (let column = length - 1; column >= 0; column -= 1) {
    places[column] = row;
    row -= steps[column * rows + row] as number;
  }
  const single = Float32Array.from(places, (place, column) => distance(reference, place, sound, column));
  const distances = smoothed(single);
  markStuck(distances, places, sound);
  return { places, distances };
}

/** Marks a sound that goes on while the reference does not: a cough, or words of another text. */
function markStuck(distances: Float32Array, places: Int32Array, sound: Float32Array): void {
  let energy = 0;
  for (const [end, place] of places.entries()) {
    energy += sound[end * size] as number;
    const start = end - stuckFrames;
    if (start < 0) continue;
    if (place - (places[start] as number) < leastAdvance && energy > 0) distances.fill(stuckDistance, start, end + 1);
    energy -= sound[start * size] as number;
  }
}

function distance(reference: Float32Array, row: number, sound: Float32Array, column: number): number {
  let sum = 0;
  for (let index = 0, left = row * size, right = column * size; index < size; index += 1) {
    const difference = (reference[left + index] as number) - (sound[right + index] as number);
    sum += difference * difference;
  }
  return Math.sqrt(sum / size);
}

function smoothed(values: Float32Array): Float32Array {
  return values.map((_, index) => {
    const around = values.subarray(Math.max(0, index - smoothFrames), index + smoothFrames + 1);
    return around.reduce((sum, value) => sum + value, 0) / around.length;
  });
}
