/** Discrete Fourier transform of real frames of one size. Holds its work space: not to be used by two callers at once. */
export interface RealDft {
  readonly size: number;
  /** Squared magnitudes of bins 0 to size / 2 of the `size` samples that begin at `start`, written to `power`. */
  powerSpectrum(samples: Float64Array, start: number, power: Float64Array): void;
}

/**
 * A DFT of any even size, exact where a power of two would need padding: the factors of half the size are taken one after
 * the other (Stockham's form of Cooley-Tukey), so 400 = 2 × (4 × 2 × 5 × 5) is fast and a large prime slow. Throws a
 * `RangeError` for an odd size.
 */
export function createRealDft(size: number): RealDft {
  if (size < 2 || size % 2 !== 0) throw new RangeError(`the size of a real DFT must be even, not ${size}`);
  const half = size / 2;
  const stages = planStages(half);
  const work: Complex[] = [createComplex(half), createComplex(half)];
  const untangle = createComplex(half + 1);
  for (let bin = 0; bin <= half; bin += 1) setPhase(untangle, bin, bin / size);
  return {
    size,
    powerSpectrum(samples, start, power) {
      let [from, to] = work as [Complex, Complex];
      for (let index = 0; index < half; index += 1) {
        from.real[index] = samples[start + 2 * index] as number;
        from.imaginary[index] = samples[start + 2 * index + 1] as number;
      }
      for (const stage of stages) {
        runStage(stage, from, to);
        [from, to] = [to, from];
      }
      untanglePower(from, untangle, power);
    },
  };
}

interface Complex {
  readonly real: Float64Array;
  readonly imaginary: Float64Array;
}

/** One factor: `blocks` transforms of `radix` points, each followed by `stride` values that lie side by side. */
interface Stage {
  readonly radix: number;
  readonly blocks: number;
  readonly stride: number;
  /** e^(-2πi · block · index / (radix · blocks)) at `block * radix + index`. */
  readonly twiddles: Complex;
  /** e^(-2πi · a · b / radix) at `a * radix + b`. */
  readonly butterfly: Complex;
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
    stages.push({ radix, blocks, stride: size / rest, twiddles, butterfly });
    rest = blocks;
  }
  return stages;
}

/** Fours first, which are cheapest, then primes. */
function factorsOf(size: number): number[] {
  const factors: number[] = [];
  let rest = size;
  for (; rest % 4 === 0; rest /= 4) factors.push(4);
  for (let factor = 2; rest > 1; factor += 1) {
    for (; rest % factor === 0; rest /= factor) factors.push(factor);
  }
  return factors;
}

function runStage({ radix, blocks, stride, twiddles, butterfly }: Stage, from: Complex, to: Complex): void {
  for (let block = 0; block < blocks; block += 1) {
    for (let lane = 0; lane < stride; lane += 1) {
      for (let output = 0; output < radix; output += 1) {
        let real = 0;
        let imaginary = 0;
        for (let input = 0; input < radix; input += 1) {
          const place = (input * blocks + block) * stride + lane;
          const a = from.real[place] as number;
          const b = from.imaginary[place] as number;
          const cos = butterfly.real[output * radix + input] as number;
          const sin = butterfly.imaginary[output * radix + input] as number;
          real += a * cos - b * sin;
          imaginary += a * sin + b * cos;
        }
        const cos = twiddles.real[block * radix + output] as number;
        const sin = twiddles.imaginary[block * radix + output] as number;
        const place = (block * radix + output) * stride + lane;
        to.real[place] = real * cos - imaginary * sin;
        to.imaginary[place] = real * sin + imaginary * cos;
      }
    }
  }
}

/** The samples went in by pairs, as real and imaginary parts; takes the two transforms apart and joins them. */
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

function createComplex(size: number): Complex {
  return { real: new Float64Array(size), imaginary: new Float64Array(size) };
}

function setPhase(target: Complex, place: number, turns: number): void {
  target.real[place] = Math.cos(2 * Math.PI * turns);
  target.imaginary[place] = -Math.sin(2 * Math.PI * turns);
}
