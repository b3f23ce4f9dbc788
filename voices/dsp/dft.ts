import { createComplex, createComplexDft, setPhase, type Complex } from './complex-dft.ts';

/**
 * Discrete Fourier transform of real frames of one size. It owns its work buffers, so two callers must not use it at
 * the same time.
 */
export interface RealDft {
  readonly size: number;
  /** Writes to `power` the squared magnitudes of bins 0 to size / 2 of the `size` samples from `start` on. */
  powerSpectrum(samples: Float64Array, start: number, power: Float64Array): void;
}

/**
 * Creates a real DFT of any even size: packs pairs of samples into a complex DFT of half the size, see
 * `complex-dft.ts`. Throws a `RangeError` for an odd size.
 */
export function createRealDft(size: number): RealDft {
  if (size < 2 || size % 2 !== 0) throw new RangeError(`the size of a real DFT must be even, not ${size}`);
  const half = size / 2;
  const dft = createComplexDft(half);
  const untangle = createComplex(half + 1);
  for (let bin = 0; bin <= half; bin += 1) setPhase(untangle, bin, bin / size);
  return {
    size,
    powerSpectrum(samples, start, power) {
      const { real, imaginary } = dft.input;
      for (let index = 0; index < half; index += 1) {
        real[index] = samples[start + 2 * index] as number;
        imaginary[index] = samples[start + 2 * index + 1] as number;
      }
      untanglePower(dft.run(), untangle, power);
    },
  };
}

/** Power spectra of two real frames at once, of any size: handles odd sizes and large primes at half the cost. */
export interface TwinDft {
  /** Squared magnitudes of bins 0 to floor(size / 2) of both frames, each with `size` samples. */
  powerSpectra(first: Float64Array, second: Float64Array, firstPower: Float64Array, secondPower: Float64Array): void;
}

/** Creates a `TwinDft`; throws a `RangeError` for a size below 1. */
export function createTwinDft(size: number): TwinDft {
  if (!Number.isInteger(size) || size < 1)
    throw new RangeError(`the size of a DFT must be a whole number, not ${size}`);
  const dft = createComplexDft(size);
  return {
    powerSpectra(first, second, firstPower, secondPower) {
      dft.input.real.set(first);
      dft.input.imaginary.set(second);
      const { real, imaginary } = dft.run();
      for (let bin = 0; bin <= size >> 1; bin += 1) {
        const mirrored = (size - bin) % size;
        const evenReal = (real[bin] as number) + (real[mirrored] as number);
        const oddReal = (real[bin] as number) - (real[mirrored] as number);
        const evenImaginary = (imaginary[bin] as number) + (imaginary[mirrored] as number);
        const oddImaginary = (imaginary[bin] as number) - (imaginary[mirrored] as number);
        firstPower[bin] = (evenReal * evenReal + oddImaginary * oddImaginary) / 4;
        secondPower[bin] = (evenImaginary * evenImaginary + oddReal * oddReal) / 4;
      }
    },
  };
}

/**
 * Separates the transforms of even and odd samples, which went in as real and imaginary parts, and combines them into
 * the power spectrum.
 */
function untanglePower(pairs: Complex, phases: Complex, power: Float64Array): void {
  const half = pairs.real.length;
  for (let bin = 0; bin <= half; bin += 1) {
    const near = bin % half;
    const far = (half - bin) % half;
    const evenReal = ((pairs.real[near] as number) + (pairs.real[far] as number)) / 2;
    const evenImaginary = ((pairs.imaginary[near] as number) - (pairs.imaginary[far] as number)) / 2;
    const oddReal = ((pairs.imaginary[near] as number) + (pairs.imaginary[far] as number)) / 2;
    const oddImaginary = ((pairs.real[far] as number) - (pairs.real[near] as number)) / 2;
    const cos = phases.real[bin] as number;
    const sin = phases.imaginary[bin] as number;
    const real = evenReal + oddReal * cos - oddImaginary * sin;
    const imaginary = evenImaginary + oddReal * sin + oddImaginary * cos;
    power[bin] = real * real + imaginary * imaginary;
  }
}
