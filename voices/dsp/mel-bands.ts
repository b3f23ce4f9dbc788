/** A triangular filter over the bins of a power spectrum; has no weights if it falls between two bins. */
export interface MelBand {
  readonly firstBin: number;
  readonly weights: Float64Array;
}

/** Parameters of a filterbank. Frequencies in hertz; `lowestHertz` defaults to 0. */
export interface BankShape {
  readonly sampleRate: number;
  /** Points of the DFT. */
  readonly frameSamples: number;
  readonly bands: number;
  readonly lowestHertz?: number;
  readonly highestHertz: number;
}

/** Slaney's mel scale: linear below 1 kHz, logarithmic above. */
const linearMelsPerHertz = 3 / 200;
const breakHertz = 1_000;
const breakMel = 15;
const logStep = Math.log(6.4) / 27;

/** Triangles of equal area between adjacent mel frequencies, like librosa's `filters.mel` with `norm='slaney'`. */
export function slaneyBands(shape: BankShape): MelBand[] {
  const [bottom, top] = [slaneyMel(shape.lowestHertz ?? 0), slaneyMel(shape.highestHertz)];
  const edge = (index: number): number => slaneyHertz(bottom + ((top - bottom) * index) / (shape.bands + 1));
  return Array.from({ length: shape.bands }, (_, band) => {
    const [low, centre, high] = [edge(band), edge(band + 1), edge(band + 2)];
    return bandOf(shape, (hertz) => triangle(hertz, [low, centre, high]) * (2 / (high - low)));
  });
}

/** Kaldi's triangles: height 1, linear in mel = 1127 ln(1 + f / 700), without the Nyquist bin. */
export function kaldiBands(shape: BankShape): MelBand[] {
  const [bottom, top] = [kaldiMel(shape.lowestHertz ?? 0), kaldiMel(shape.highestHertz)];
  const edge = (index: number): number => bottom + ((top - bottom) * index) / (shape.bands + 1);
  return Array.from({ length: shape.bands }, (_, band) => {
    const edges: Triangle = [edge(band), edge(band + 1), edge(band + 2)];
    return bandOf(shape, (hertz) => (hertz < shape.sampleRate / 2 ? triangle(kaldiMel(hertz), edges) : 0));
  });
}

/** Energy of a power spectrum within a band. */
export function energyIn({ firstBin, weights }: MelBand, power: Float64Array): number {
  let sum = 0;
  for (let index = 0; index < weights.length; index += 1) {
    sum += (weights[index] as number) * (power[firstBin + index] as number);
  }
  return sum;
}

/** Low edge, peak and high edge. */
type Triangle = readonly [number, number, number];

function triangle(place: number, [low, centre, high]: Triangle): number {
  return Math.max(0, Math.min((place - low) / (centre - low), (high - place) / (high - centre)));
}

function bandOf({ sampleRate, frameSamples }: BankShape, weigh: (hertz: number) => number): MelBand {
  const all = Array.from({ length: (frameSamples >> 1) + 1 }, (_, bin) => weigh((bin * sampleRate) / frameSamples));
  const firstBin = all.findIndex((weight) => weight > 0);
  if (firstBin < 0) return { firstBin: 0, weights: new Float64Array(0) };
  const lastBin = all.findLastIndex((weight) => weight > 0);
  return { firstBin, weights: Float64Array.from(all.slice(firstBin, lastBin + 1)) };
}

function slaneyMel(hertz: number): number {
  return hertz < breakHertz ? hertz * linearMelsPerHertz : breakMel + Math.log(hertz / breakHertz) / logStep;
}

function slaneyHertz(mel: number): number {
  return mel < breakMel ? mel / linearMelsPerHertz : breakHertz * Math.exp(logStep * (mel - breakMel));
}

function kaldiMel(hertz: number): number {
  return 1127 * Math.log(1 + hertz / 700);
}
