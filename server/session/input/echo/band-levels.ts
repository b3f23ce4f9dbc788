import { createRealDft, type RealDft } from '../../../../voices/dsp/dft.ts';

const edgesHertz = [150, 300, 500, 750, 1_100, 1_600, 2_300, 3_300, 5_000];
/** Number of frequency bands in which audio is compared. */
export const bandCount = edgesHertz.length - 1;
/** Lowest level, in decibels. */
export const quietDecibels = -65;

/**
 * Buffers and transform for one window length. There is no await between writing and reading them: shared by all
 * sessions.
 */
interface Bench {
  readonly dft: RealDft;
  readonly taper: Float64Array;
  readonly tapered: Float64Array;
  readonly power: Float64Array;
}

/** One for each output sample rate of a voice, and one for microphones. */
const benches = new Map<number, Bench>();
const mostBenches = 8;

/** Writes the levels of a window, in decibels, into `levels` from `offset` on, `bandCount` of them. */
export function writeBandLevels(samples: Float32Array, sampleRate: number, levels: Float64Array, offset: number): void {
  // The transform needs an even number.
  const size = samples.length - (samples.length % 2);
  const { dft, taper, tapered, power } = benchFor(size);
  for (let index = 0; index < size; index += 1) tapered[index] = (samples[index] as number) * (taper[index] as number);
  dft.powerSpectrum(tapered, 0, power);
  for (let band = 0; band < bandCount; band += 1) {
    const from = Math.round(((edgesHertz[band] as number) * size) / sampleRate);
    const to = Math.min(power.length, Math.round(((edgesHertz[band + 1] as number) * size) / sampleRate));
    let sum = 0;
    for (let bin = from; bin < to; bin += 1) sum += power[bin] as number;
    levels[offset + band] = Math.max(quietDecibels, 10 * Math.log10((4 * sum) / size ** 2 + 1e-12));
  }
}

function benchFor(size: number): Bench {
  const known = benches.get(size);
  if (known !== undefined) return known;
  if (benches.size === mostBenches) benches.clear();
  const taper = Float64Array.from({ length: size }, (_, index) => Math.sin((Math.PI * (index + 0.5)) / size));
  const bench = {
    dft: createRealDft(size),
    taper,
    tapered: new Float64Array(size),
    power: new Float64Array(size / 2 + 1),
  };
  benches.set(size, bench);
  return bench;
}
