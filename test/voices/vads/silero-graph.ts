import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { sileroModelPath } from '../../../voices/vads/silero.ts';
import { readOnnxConstants, writeOnnx, type FloatTensor, type GraphNode } from '../../fakes/models/onnx-file.ts';

/** Sizes of Silero v5 and v6 at 16 kHz. A window of 576 samples and 64 mirrored ones hold four frames. */
const frameSamples = 256;
const framesPerWindow = 4;
const bins = 129;
const unitsPerState = 128;
const gates = 4;
/** Order of the gates in the model (PyTorch's) for each position in an ONNX LSTM. */
const gateOrder = [0, 3, 1, 2] as const;
const kernel = 3;
/** Part of an encoder convolution as a matrix product: from some time steps of its input to some of its output. */
interface Product {
  /** Index of the convolution. */
  readonly layer: number;
  readonly input: string;
  readonly output: string;
  /** Ranges of input and output steps, end exclusive. */
  readonly stepsIn: readonly [number, number];
  readonly stepsOut: readonly [number, number];
}

/** Channels and strides of the four convolutions. */
const layers = [
  { from: 129, to: 128, stride: 1 },
  { from: 128, to: 64, stride: 2 },
  { from: 64, to: 64, stride: 2 },
  { from: 64, to: 128, stride: 1 },
] as const;

/**
 * The first convolution is split in halves, because a step depends on its neighbours only: a quarter less to multiply.
 */
const products: readonly Product[] = [
  { layer: 0, input: 'magnitude012', output: 'first01', stepsIn: [0, 3], stepsOut: [0, 2] },
  { layer: 0, input: 'magnitude123', output: 'first23', stepsIn: [1, 4], stepsOut: [2, 4] },
  { layer: 1, input: 'first', output: 'second', stepsIn: [0, 4], stepsOut: [0, 2] },
  { layer: 2, input: 'second', output: 'third', stepsIn: [0, 2], stepsOut: [0, 1] },
  { layer: 3, input: 'third', output: 'fourth', stepsIn: [0, 1], stepsOut: [0, 1] },
];

const require = createRequire(import.meta.url);

/** Silero v6 as its authors publish it, for 8 and 16 kHz: source of the graph in `voices/vads/`. */
export const originalPath = require.resolve('@ricky0123/vad-web/dist/silero_vad_v6.onnx');

/**
 * Builds the same network as a Silero v5 or v6 file, for 16 kHz only, from its weights: plain matrix products instead
 * of convolutions over four time steps, constants instead of slices of the weights in each run, no branches. Takes a
 * third of the time; probabilities differ by rounding alone (1e-5 at most).
 *
 * Inputs: `frames` [count × 4, 256] as `cutFrames` in `silero-worker.ts` makes them, `hidden` and `cell`
 * [1, count, 128]. Outputs: `speech` [count, 1], `hiddenNext` and `cellNext`. Throws if the file does not hold the
 * weights of such a model.
 */
export function sileroGraph(file: Uint8Array): Uint8Array {
  const { basis, encoder, inputWeights, stateWeights, inputBias, stateBias, decoderWeights, decoderBias } =
    findWeights(file);
  const constants: Record<string, FloatTensor | readonly number[]> = {
    basis: { sizes: [frameSamples, 2 * bins], values: transpose(basis, 2 * bins) },
    parts: [bins, bins],
    flat: [-1, framesPerWindow * bins],
    zero: [0],
    one: [1],
    from1: [bins],
    to3: [3 * bins],
    to4: [4 * bins],
    lstmInput: { sizes: [1, gates * unitsPerState, unitsPerState], values: sortGates(inputWeights) },
    lstmState: { sizes: [1, gates * unitsPerState, unitsPerState], values: sortGates(stateWeights) },
    lstmBias: {
      sizes: [1, 2 * gates * unitsPerState],
      values: Float32Array.of(...sortGates(inputBias), ...sortGates(stateBias)),
    },
    decoderWeights: { sizes: [unitsPerState, 1], values: decoderWeights },
    decoderBias: { sizes: [1], values: decoderBias },
  };
  for (const product of products) {
    const { weight, bias } = encoder[product.layer] as { weight: Float32Array; bias: Float32Array };
    const repeated = Array.from({ length: product.stepsOut[1] - product.stepsOut[0] }, () => [...bias]).flat();
    constants[`${product.output}Weight`] = unroll(weight, product);
    constants[`${product.output}Bias`] = { sizes: [repeated.length], values: Float32Array.from(repeated) };
  }
  const state = [1, 'count', unitsPerState];
  return writeOnnx({
    inputs: [
      { name: 'frames', sizes: ['frames', frameSamples] },
      { name: 'hidden', sizes: state },
      { name: 'cell', sizes: state },
    ],
    outputs: [
      { name: 'speech', sizes: ['count', 1] },
      { name: 'hiddenNext', sizes: state },
      { name: 'cellNext', sizes: state },
    ],
    nodes: [...spectrumNodes(), ...encoderNodes(), ...decoderNodes()],
    constants,
  });
}

function node(operation: string, inputs: string[], outputs: string[], attributes = {}): GraphNode {
  return { operation, inputs, outputs, attributes };
}

function spectrumNodes(): GraphNode[] {
  return [
    node('MatMul', ['frames', 'basis'], ['spectrum']),
    node('Mul', ['spectrum', 'spectrum'], ['squares']),
    node('Split', ['squares', 'parts'], ['real', 'imaginary'], { axis: 1 }),
    node('Add', ['real', 'imaginary'], ['power']),
    node('Sqrt', ['power'], ['magnitude']),
    node('Reshape', ['magnitude', 'flat'], ['magnitude0123']),
    node('Slice', ['magnitude0123', 'zero', 'to3', 'one'], ['magnitude012']),
    node('Slice', ['magnitude0123', 'from1', 'to4', 'one'], ['magnitude123']),
  ];
}

function encoderNodes(): GraphNode[] {
  const nodes = products.flatMap(({ input, output }) => [
    node('Gemm', [input, `${output}Weight`, `${output}Bias`], [`${output}Sum`]),
    node('Relu', [`${output}Sum`], [output]),
  ]);
  const join = node('Concat', ['first01', 'first23'], ['first'], { axis: 1 });
  return [...nodes.slice(0, 4), join, ...nodes.slice(4)];
}

function decoderNodes(): GraphNode[] {
  const lstm = ['sequence', 'lstmInput', 'lstmState', 'lstmBias', '', 'hidden', 'cell'];
  return [
    node('Unsqueeze', ['fourth', 'zero'], ['sequence']),
    node('LSTM', lstm, ['', 'hiddenNext', 'cellNext'], { hidden_size: unitsPerState }),
    node('Squeeze', ['hiddenNext', 'zero'], ['seen']),
    node('Relu', ['seen'], ['kept']),
    node('Gemm', ['kept', 'decoderWeights', 'decoderBias'], ['logit']),
    node('Sigmoid', ['logit'], ['speech']),
  ];
}

function findWeights(file: Uint8Array) {
  const constants = readOnnxConstants(file);
  const basisName = 'stft.forward_basis_buffer';
  const basisSize = 2 * bins * frameSamples;
  // The file holds the weights of each rate under a prefix; the size of the basis tells which is for 16 kHz.
  const prefix = [...constants]
    .find(([name, { values }]) => name.endsWith(basisName) && values.length === basisSize)?.[0]
    .slice(0, -basisName.length);
  const take = (suffix: string, length: number): Float32Array => {
    const values = constants.get(`${prefix}${suffix}`)?.values;
    if (values?.length !== length) throw new Error(`no weights of a Silero model: ${suffix} is missing`);
    return values;
  };
  const matrix = gates * unitsPerState * unitsPerState;
  return {
    basis: take(basisName, basisSize),
    encoder: layers.map(({ from, to }, index) => ({
      weight: take(`encoder.${index}.reparam_conv.weight`, to * from * kernel),
      bias: take(`encoder.${index}.reparam_conv.bias`, to),
    })),
    inputWeights: take('decoder.rnn.weight_ih', matrix),
    stateWeights: take('decoder.rnn.weight_hh', matrix),
    inputBias: take('decoder.rnn.bias_ih', gates * unitsPerState),
    stateBias: take('decoder.rnn.bias_hh', gates * unitsPerState),
    decoderWeights: take('decoder.decoder.2.weight', unitsPerState),
    decoderBias: take('decoder.decoder.2.bias', 1),
  };
}

/**
 * Unrolls a convolution over few steps into one matrix [steps in × channels, steps out × channels]; entries outside the
 * kernel are zero.
 */
function unroll(weight: Float32Array, { layer, stepsIn, stepsOut }: Product): FloatTensor {
  const { from, to, stride } = layers[layer] as (typeof layers)[number];
  const columns = (stepsOut[1] - stepsOut[0]) * to;
  const rows = (stepsIn[1] - stepsIn[0]) * from;
  const values = new Float32Array(rows * columns);
  for (let stepOut = stepsOut[0]; stepOut < stepsOut[1]; stepOut += 1) {
    for (let tap = 0; tap < kernel; tap += 1) {
      const stepIn = stepOut * stride + tap - 1;
      if (stepIn < stepsIn[0] || stepIn >= stepsIn[1]) continue;
      for (let input = 0; input < from; input += 1) {
        const row = ((stepIn - stepsIn[0]) * from + input) * columns + (stepOut - stepsOut[0]) * to;
        for (let output = 0; output < to; output += 1) {
          values[row + output] = weight[(output * from + input) * kernel + tap] as number;
        }
      }
    }
  }
  return { sizes: [rows, columns], values };
}

/** Reorders the weights, or biases, of the four gates to the order of ONNX. */
function sortGates(weights: Float32Array): Float32Array {
  const size = weights.length / gates;
  const sorted = new Float32Array(weights.length);
  for (const [place, gate] of gateOrder.entries())
    sorted.set(weights.subarray(gate * size, (gate + 1) * size), place * size);
  return sorted;
}

/** Transposes a matrix of `rows` rows. */
function transpose(matrix: Float32Array, rows: number): Float32Array {
  const columns = matrix.length / rows;
  return Float32Array.from(matrix, (_, index) => matrix[(index % rows) * columns + Math.floor(index / rows)] as number);
}

// node test/voices/vads/silero-graph.ts
if (import.meta.main) writeFileSync(sileroModelPath, sileroGraph(readFileSync(originalPath)));
