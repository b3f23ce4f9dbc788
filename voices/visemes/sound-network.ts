import { visemes } from '../synthesizer.ts';
import { frameBands } from './mel-frames.ts';

/** Frames that the network sees, counted back from the current one. */
export const contextFrames = [0, 1, 2, 4, 6, 9] as const;
export const inputSize = frameBands * contextFrames.length;

/** Neurons of each layer, from the input to one output for each viseme. */
export const layerSizes = [inputSize, 112, 64, visemes.length] as const;

/** A layer: for each of its neurons the weights of all inputs, one after the other. */
export interface NetworkLayer {
  readonly weights: Float32Array;
  readonly bias: Float32Array;
}

/** Puts the frames that the network sees at `index` into `input`; before the first frame, the first. */
export function networkInput(frames: readonly Float32Array[], index: number, input: Float32Array): void {
  for (const [place, back] of contextFrames.entries())
    input.set(frames[Math.max(0, index - back)] as Float32Array, place * frameBands);
}

/** Returns the probability of each viseme. Hidden layers cut off below 0. */
export function evaluateNetwork(layers: readonly NetworkLayer[], input: Float32Array): Float32Array {
  let values = input;
  for (const [depth, { weights, bias }] of layers.entries()) {
    const next = Float32Array.from(bias);
    const size = values.length;
    for (let neuron = 0; neuron < next.length; neuron += 1) {
      let sum = next[neuron] as number;
      const row = neuron * size;
      for (let index = 0; index < size; index += 1) sum += (weights[row + index] as number) * (values[index] as number);
      next[neuron] = depth < layers.length - 1 ? Math.max(0, sum) : sum;
    }
    values = next;
  }
  const most = values.reduce((highest, value) => Math.max(highest, value), -Infinity);
  const shares = values.map((value) => Math.exp(value - most));
  const total = shares.reduce((sum, share) => sum + share, 0);
  return shares.map((share) => share / total);
}

const magic = 0x31_4e_53_56;

/** Stores the layers with 8 bits a weight and a scale for each neuron. */
export function storeNetwork(layers: readonly NetworkLayer[]): Uint8Array {
  const parts = [new Uint8Array(Uint32Array.of(magic, ...layers.map(({ bias }) => bias.length)).buffer)];
  for (const { weights, bias } of layers) {
    const size = weights.length / bias.length;
    const rows = Array.from(bias, (_, neuron) => weights.subarray(neuron * size, (neuron + 1) * size));
    const scales = Float32Array.from(
      rows,
      (row) => row.reduce((most, one) => Math.max(most, Math.abs(one)), 1e-6) / 127,
    );
    const small = rows.map((row, neuron) => Int8Array.from(row, (one) => Math.round(one / (scales[neuron] as number))));
    parts.push(new Uint8Array(scales.buffer), new Uint8Array(Float32Array.from(bias).buffer));
    parts.push(...small.map((row) => new Uint8Array(row.buffer)));
  }
  return Uint8Array.from(Buffer.concat(parts));
}

/** Reads what `storeNetwork` wrote; throws an `Error` for anything else. */
export function readNetwork(stored: Uint8Array): NetworkLayer[] {
  // A copy: a Buffer may lie anywhere in a larger one.
  const bytes = Uint8Array.from(stored);
  const depth = layerSizes.length - 1;
  const head = new Uint32Array(bytes.slice(0, 4 * (depth + 1)).buffer);
  const sizes = layerSizes.slice(1);
  if (head[0] !== magic || sizes.some((size, index) => head[index + 1] !== size))
    throw new Error('The file does not contain the weights of the network from sound to visemes.');
  let at = head.byteLength;
  const take = (length: number): ArrayBuffer => bytes.slice(at, (at += length)).buffer;
  return sizes.map((neurons, index) => {
    const inputs = layerSizes[index] as number;
    const scales = new Float32Array(take(4 * neurons));
    const bias = new Float32Array(take(4 * neurons));
    const small = new Int8Array(take(neurons * inputs));
    const weights = Float32Array.from(small, (one, place) => one * (scales[Math.floor(place / inputs)] as number));
    return { weights, bias };
  });
}
