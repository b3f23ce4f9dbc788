/** DFT of real frames of one size. It owns its work buffers, so two callers must not use it at the same time. */
export interface RealDft {
  readonly size: number;
  /** Writes to `power` the squared magnitudes of bins 0 to size / 2 of the `size` samples from `start` on. */
  powerSpectrum(samples: Float64Array, start: number, power: Float64Array): void;
}

/** A real DFT of any even size, by a complex DFT of half the size; throws a `RangeError` for an odd size. */
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

/** Combines the transforms of even and odd samples, which went in as real and imaginary parts, into the power. */
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

/** Complex values, with real and imaginary parts in separate arrays. */
export interface Complex {
  readonly real: Float64Array;
  readonly imaginary: Float64Array;
}

/** Allocates `size` complex values. */
export function createComplex(size: number): Complex {
  return { real: new Float64Array(size), imaginary: new Float64Array(size) };
}

/** Puts e^(-2πi · turns) at `place`. */
export function setPhase(target: Complex, place: number, turns: number): void {
  target.real[place] = Math.cos(2 * Math.PI * turns);
  target.imaginary[place] = -Math.sin(2 * Math.PI * turns);
}

/** A DFT of complex values of one size. It owns its work buffers, so two callers must not use it at the same time. */
export interface ComplexDft {
  /** Fill this before calling `run`. */
  readonly input: Complex;
  /** Returns the transform of `input`, valid until the next run; overwrites `input`. */
  run(): Complex;
}

/** A DFT of any size, unpadded: Cooley-Tukey in Stockham's form, fours first; slow only for large prime factors. */
export function createComplexDft(size: number): ComplexDft {
  const stages = planStages(size);
  const input = createComplex(size);
  const spare = createComplex(size);
  return {
    input,
    run() {
      let [from, to] = [input, spare];
      for (const stage of stages) {
        if (stage.radix === 4) runFours(stage, from, to);
        else if (stage.radix === 2) runTwos(stage, from, to);
        else runPrime(stage, from, to);
        [from, to] = [to, from];
      }
      return from;
    },
  };
}

/** One factor: `blocks` transforms of `radix` points, each over `stride` adjacent values. */
interface Stage {
  readonly radix: number;
  readonly blocks: number;
  readonly stride: number;
  /** e^(-2πi · block · index / (radix · blocks)) at `block * radix + index`. */
  readonly twiddles: Complex;
  /** For primes: e^(-2πi · a · b / radix) at `a * radix + b`. */
  readonly butterfly: Complex;
  /** Work buffers of `runPrime`: sums and differences of mirrored inputs. */
  readonly sums: Complex;
  readonly gaps: Complex;
}

function planStages(size: number): Stage[] {
  const stages: Stage[] = [];
  let rest = size;
  for (const radix of factorsOf(size)) {
    const blocks = rest / radix;
    const twiddles = createComplex(rest);
    const butterfly = createComplex(radix * radix);
    for (let block = 0; block < blocks; block += 1) {
      for (let index = 0; index < radix; index += 1) setPhase(twiddles, block * radix + index, (block * index) / rest);
    }
    for (let a = 0; a < radix; a += 1) {
      for (let b = 0; b < radix; b += 1) setPhase(butterfly, a * radix + b, ((a * b) % radix) / radix);
    }
    const [sums, gaps] = [createComplex((radix - 1) >> 1), createComplex((radix - 1) >> 1)];
    stages.push({ radix, blocks, stride: size / rest, twiddles, butterfly, sums, gaps });
    rest = blocks;
  }
  return stages;
}

function factorsOf(size: number): number[] {
  const factors: number[] = [];
  let rest = size;
  for (; rest % 4 === 0; rest /= 4) factors.push(4);
  for (let factor = 2; rest > 1; factor += 1) {
    for (; rest % factor === 0; rest /= factor) factors.push(factor);
  }
  return factors;
}

function runFours({ blocks, stride, twiddles }: Stage, from: Complex, to: Complex): void {
  const { real, imaginary } = from;
  const apart = blocks * stride;
  for (let block = 0; block < blocks; block += 1) {
    for (let lane = 0; lane < stride; lane += 1) {
      const at = block * stride + lane;
      const aReal = real[at] as number;
      const aImaginary = imaginary[at] as number;
      const bReal = real[at + apart] as number;
      const bImaginary = imaginary[at + apart] as number;
      const cReal = real[at + 2 * apart] as number;
      const cImaginary = imaginary[at + 2 * apart] as number;
      const dReal = real[at + 3 * apart] as number;
      const dImaginary = imaginary[at + 3 * apart] as number;
      const sumReal = aReal + cReal;
      const sumImaginary = aImaginary + cImaginary;
      const gapReal = aReal - cReal;
      const gapImaginary = aImaginary - cImaginary;
      const oddSumReal = bReal + dReal;
      const oddSumImaginary = bImaginary + dImaginary;
      const oddGapReal = bReal - dReal;
      const oddGapImaginary = bImaginary - dImaginary;
      const place = block * 4 * stride + lane;
      to.real[place] = sumReal + oddSumReal;
      to.imaginary[place] = sumImaginary + oddSumImaginary;
      const twiddle = block * 4;
      turn(to, place + stride, gapReal + oddGapImaginary, gapImaginary - oddGapReal, twiddles, twiddle + 1);
      turn(to, place + 2 * stride, sumReal - oddSumReal, sumImaginary - oddSumImaginary, twiddles, twiddle + 2);
      turn(to, place + 3 * stride, gapReal - oddGapImaginary, gapImaginary + oddGapReal, twiddles, twiddle + 3);
    }
  }
}

/** Writes a value multiplied by a phase. */
function turn(to: Complex, place: number, real: number, imaginary: number, phases: Complex, phase: number): void {
  const cos = phases.real[phase] as number;
  const sin = phases.imaginary[phase] as number;
  to.real[place] = real * cos - imaginary * sin;
  to.imaginary[place] = real * sin + imaginary * cos;
}

function runTwos({ blocks, stride, twiddles }: Stage, { real, imaginary }: Complex, to: Complex): void {
  const apart = blocks * stride;
  for (let block = 0; block < blocks; block += 1) {
    for (let lane = 0; lane < stride; lane += 1) {
      const near = block * stride + lane;
      const far = near + apart;
      const place = block * 2 * stride + lane;
      to.real[place] = (real[near] as number) + (real[far] as number);
      to.imaginary[place] = (imaginary[near] as number) + (imaginary[far] as number);
      const gapReal = (real[near] as number) - (real[far] as number);
      const gapImaginary = (imaginary[near] as number) - (imaginary[far] as number);
      turn(to, place + stride, gapReal, gapImaginary, twiddles, block * 2 + 1);
    }
  }
}

/** An odd prime, by definition; mirrored inputs and outputs share work: a quarter of the multiplications. */
function runPrime(stage: Stage, from: Complex, to: Complex): void {
  const { radix, blocks, stride, butterfly, twiddles, sums, gaps } = stage;
  const half = (radix - 1) / 2;
  for (let start = 0; start < blocks * stride; start += 1) {
    const block = Math.floor(start / stride);
    const place = block * radix * stride + (start % stride);
    foldPairs(stage, from, start);
    const firstReal = from.real[start] as number;
    const firstImaginary = from.imaginary[start] as number;
    to.real[place] = sums.real.reduce((total, value) => total + value, firstReal);
    to.imaginary[place] = sums.imaginary.reduce((total, value) => total + value, firstImaginary);
    for (let output = 1; output <= half; output += 1) {
      let evenReal = firstReal;
      let evenImaginary = firstImaginary;
      let oddReal = 0;
      let oddImaginary = 0;
      for (let pair = 0; pair < half; pair += 1) {
        const cos = butterfly.real[output * radix + pair + 1] as number;
        const sin = butterfly.imaginary[output * radix + pair + 1] as number;
        evenReal += cos * (sums.real[pair] as number);
        evenImaginary += cos * (sums.imaginary[pair] as number);
        oddReal -= sin * (gaps.imaginary[pair] as number);
        oddImaginary += sin * (gaps.real[pair] as number);
      }
      const phase = block * radix;
      const mirrored = radix - output;
      const [real, imaginary] = [evenReal + oddReal, evenImaginary + oddImaginary];
      turn(to, place + output * stride, real, imaginary, twiddles, phase + output);
      turn(to, place + mirrored * stride, evenReal - oddReal, evenImaginary - oddImaginary, twiddles, phase + mirrored);
    }
  }
}

/** Computes sums and differences of mirrored inputs. */
function foldPairs({ radix, blocks, stride, sums, gaps }: Stage, { real, imaginary }: Complex, start: number): void {
  const apart = blocks * stride;
  for (let pair = 0; pair < sums.real.length; pair += 1) {
    const near = start + (pair + 1) * apart;
    const far = start + (radix - 1 - pair) * apart;
    sums.real[pair] = (real[near] as number) + (real[far] as number);
    sums.imaginary[pair] = (imaginary[near] as number) + (imaginary[far] as number);
    gaps.real[pair] = (real[near] as number) - (real[far] as number);
    gaps.imaginary[pair] = (imaginary[near] as number) - (imaginary[far] as number);
  }
}
