import { concatSamples } from '../audio.ts';

/** Sample rates that a `Resampler` accepts, in hertz. */
export const lowestSampleRate = 8_000;
export const highestSampleRate = 192_000;

/** Zero crossings of the sinc per side, and pass band as a fraction of the lower Nyquist: torchaudio's defaults. */
const zeroCrossings = 6;
const rolloff = 0.99;

/** Number of rate pairs whose filter is cached; the least recently used is evicted. */
const keptFilters = 8;

/** Largest input buffer that is kept from block to block. */
const keptSamples = 16_384;

/**
 * Converts a stream of blocks from one sample rate to another: a Hann-windowed sinc, the kernel of torchaudio's
 * `sinc_interp_hann` with its defaults, so that metrics and live audio are resampled alike. Output sample 0 lies at the
 * time of input sample 0: the filter adds no shift, it only waits for `lookaheadSamples` of input beyond each output
 * sample.
 */
export class Resampler {
  /** Input samples needed beyond an output sample before it can be computed; 0 if the rates are equal. */
  readonly lookaheadSamples: number;
  readonly #filter: Filter | undefined;
  /** Input still needed, up to `#length`; starts with the zeros before the first sample. */
  #input: Float32Array;
  #length: number;
  /** The next output sample lies `#phase / outStep` after the input sample at index `#centre` of `#input`. */
  #centre: number;
  #phase = 0;
  #received = 0;
  #emitted = 0;

  /** Rates in hertz, whole numbers from `lowestSampleRate` to `highestSampleRate`; otherwise throws a `RangeError`. */
  constructor(fromSampleRate: number, toSampleRate: number) {
    this.#filter = fromSampleRate === toSampleRate ? undefined : filterFor(fromSampleRate, toSampleRate);
    this.lookaheadSamples = this.#filter?.halfWidth ?? 0;
    this.#input = new Float32Array(this.lookaheadSamples);
    this.#length = this.lookaheadSamples;
    this.#centre = this.lookaheadSamples;
  }

  /** Returns what can be computed so far (the block itself at equal rates), in a subarray of `into` if it fits. */
  push(block: Float32Array, into?: Float32Array): Float32Array {
    if (this.#filter === undefined) return block;
    const { inStep, outStep, halfWidth } = this.#filter;
    this.#append(block);
    const room = this.#length - halfWidth - this.#centre;
    const length = Math.max(0, Math.ceil((room * outStep - this.#phase) / inStep));
    const output = into === undefined || into.length < length ? new Float32Array(length) : into.subarray(0, length);
    this.#fill(output, this.#input, this.#filter);
    this.#forget(Math.min(this.#centre - halfWidth, this.#length));
    this.#received += block.length;
    this.#emitted += output.length;
    return output;
  }

  /** Returns what was held back, as if silence followed: `ceil(input * to / from)` samples in all. Then resets. */
  flush(): Float32Array {
    if (this.#filter === undefined) return new Float32Array(0);
    const { inStep, outStep, halfWidth } = this.#filter;
    const missing = Math.ceil((this.#received * outStep) / inStep) - this.#emitted;
    const rest = this.push(new Float32Array(halfWidth)).slice(0, missing);
    this.#input.fill(0);
    this.#length = halfWidth;
    this.#centre = halfWidth;
    this.#phase = 0;
    this.#received = 0;
    this.#emitted = 0;
    return rest;
  }

  #append(block: Float32Array): void {
    const needed = this.#length + block.length;
    if (needed > this.#input.length) {
      const larger = new Float32Array(needed);
      larger.set(this.#input.subarray(0, this.#length));
      this.#input = larger;
    }
    this.#input.set(block, this.#length);
    this.#length = needed;
  }

  /** Drops the oldest input. Keeps the buffer for blocks as long as the last, unless that was a whole recording. */
  #forget(count: number): void {
    this.#input.copyWithin(0, count, this.#length);
    this.#length -= count;
    this.#centre -= count;
    if (this.#input.length > keptSamples) this.#input = this.#input.slice(0, this.#length);
  }

  /**
   * Computes all outputs of one phase before the next, so that its taps stay cached. Four at a time, because each sum
   * waits for its last addition; within a sum the order is that of the taps, so that the result does not depend on
   * block boundaries.
   */
  #fill(output: Float32Array, input: Float32Array, filter: Filter): void {
    const { inStep, outStep, halfWidth } = filter;
    const start = this.#phase;
    const first = this.#centre - halfWidth;
    const [twoSteps, threeSteps] = [2 * inStep, 3 * inStep];
    for (let place = 0; place < outStep && place < output.length; place += 1) {
      const position = start + place * inStep;
      const taps = filter.tapsAt(position % outStep);
      let from = first + Math.floor(position / outStep);
      let index = place;
      for (; index + 3 * outStep < output.length; index += 4 * outStep) {
        let sum = 0;
        let second = 0;
        let third = 0;
        let fourth = 0;
        for (let tap = 0; tap < taps.length; tap += 1) {
          const weight = taps[tap] as number;
          const at = from + tap;
          sum += weight * (input[at] as number);
          second += weight * (input[at + inStep] as number);
          third += weight * (input[at + twoSteps] as number);
          fourth += weight * (input[at + threeSteps] as number);
        }
        output[index] = sum;
        output[index + outStep] = second;
        output[index + 2 * outStep] = third;
        output[index + 3 * outStep] = fourth;
        from += 4 * inStep;
      }
      for (; index < output.length; index += outStep) {
        let sum = 0;
        for (let tap = 0; tap < taps.length; tap += 1) sum += (taps[tap] as number) * (input[from + tap] as number);
        output[index] = sum;
        from += inStep;
      }
    }
    const end = start + output.length * inStep;
    this.#centre += Math.floor(end / outStep);
    this.#phase = end % outStep;
  }
}

/** Resamples a whole clip; see `Resampler` for rates and length. Returns the same array if the rates are equal. */
export function resample(samples: Float32Array, fromSampleRate: number, toSampleRate: number): Float32Array {
  const resampler = new Resampler(fromSampleRate, toSampleRate);
  const head = resampler.push(samples);
  const tail = resampler.flush();
  return tail.length === 0 ? head : concatSamples([head, tail]);
}

/** One output sample per `inStep / outStep` input samples; each phase has `2 * halfWidth + 1` taps. */
interface Filter {
  readonly inStep: number;
  readonly outStep: number;
  readonly halfWidth: number;
  tapsAt(phase: number): Float32Array;
}

const filters = new Map<string, Filter>();

function filterFor(fromSampleRate: number, toSampleRate: number): Filter {
  for (const rate of [fromSampleRate, toSampleRate]) {
    if (Number.isInteger(rate) && rate >= lowestSampleRate && rate <= highestSampleRate) continue;
    throw new RangeError(`a sample rate must be a whole number from 8000 to 192000 Hz, not ${rate}`);
  }
  const divisor = greatestCommonDivisor(fromSampleRate, toSampleRate);
  const key = `${fromSampleRate / divisor}:${toSampleRate / divisor}`;
  const filter = filters.get(key) ?? createFilter(fromSampleRate / divisor, toSampleRate / divisor);
  filters.delete(key);
  filters.set(key, filter);
  const [oldest] = filters.keys();
  if (filters.size > keptFilters && oldest !== undefined) filters.delete(oldest);
  return filter;
}

/** Computes the taps of a phase when first needed: coprime rates have up to 192000 phases. */
function createFilter(inStep: number, outStep: number): Filter {
  const bandwidth = (Math.min(inStep, outStep) * rolloff) / inStep;
  const halfWidth = Math.ceil(zeroCrossings / bandwidth);
  const phases: (Float32Array | undefined)[] = [];
  const tapsAt = (phase: number): Float32Array => {
    const known = phases[phase];
    if (known !== undefined) return known;
    const taps = new Float32Array(2 * halfWidth + 1);
    for (let tap = 0; tap < taps.length; tap += 1) {
      taps[tap] = windowedSinc((tap - halfWidth - phase / outStep) * bandwidth) * bandwidth;
    }
    phases[phase] = taps;
    return taps;
  };
  return { inStep, outStep, halfWidth, tapsAt };
}

/** `position` counts zero crossings of the sinc from its peak. */
function windowedSinc(position: number): number {
  if (Math.abs(position) >= zeroCrossings) return 0;
  const window = Math.cos((Math.PI * position) / (2 * zeroCrossings)) ** 2;
  return position === 0 ? 1 : (Math.sin(Math.PI * position) / (Math.PI * position)) * window;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
