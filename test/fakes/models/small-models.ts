import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { writeOnnx, type GraphNode, type OnnxGraph } from './onnx-file.ts';

/** A model file that stands in for weights that no package ships: their names and shapes, untrained. */
export interface SmallModel {
  readonly modelPath: string;
  readonly sha256: string;
}

async function write(modelPath: string, graph: OnnxGraph): Promise<SmallModel> {
  const bytes = writeOnnx(graph);
  await writeFile(modelPath, bytes);
  return { modelPath, sha256: createHash('sha256').update(bytes).digest('hex') };
}

function node(operation: string, inputs: string[], outputs: string[], attributes = {}): GraphNode {
  return { operation, inputs, outputs, attributes };
}

/** Trained models have a bias, so that silence does not give an all-zero output. */
const bias = { sizes: [1], values: Float32Array.of(0.01) };

/** Weights of the model below: from 80 means to `dimensions` numbers. */
export function smallWeights(dimensions: number): Float32Array {
  return Float32Array.from({ length: 80 * dimensions }, (_, index) => Math.sin(index * 12.9898));
}

/**
 * Writes a model shaped like CAM++: mean and spread over time of the features, each through random weights, added up.
 */
export function writeSmallCampplus(
  modelPath: string,
  { input = 'x', output = 'embedding', batch = 'N', dimensions = 192 }: Partial<SmallShape> = {},
): Promise<SmallModel> {
  return write(modelPath, {
    inputs: [{ name: input, sizes: [batch, 'T', 80] }],
    outputs: [{ name: output, sizes: [batch, dimensions] }],
    nodes: [
      node('ReduceMean', [input], ['mean'], { axes: [1], keepdims: 0 }),
      node('Mul', [input, input], ['squares']),
      node('ReduceMean', ['squares'], ['spread'], { axes: [1], keepdims: 0 }),
      node('Add', ['mean', 'spread'], ['both']),
      node('MatMul', ['both', 'weights'], ['sum']),
      node('Add', ['sum', 'bias'], [output]),
    ],
    constants: { bias, weights: { sizes: [80, dimensions], values: smallWeights(dimensions) } },
  });
}

/** Filters of 25 ms, 60 Hz to 7 kHz, spaced logarithmically like human hearing. */
function filters(shape: (angle: number) => number): Float32Array {
  return Float32Array.from({ length: readerBands * 400 }, (_, index) => {
    const [band, at] = [Math.floor(index / 400), index % 400];
    const hertz = 60 * (7_000 / 60) ** (band / (readerBands - 1));
    return shape((2 * Math.PI * hertz * at) / 16_000) * (0.5 - 0.5 * Math.cos((2 * Math.PI * at) / 400));
  });
}

const readerBands = 48;

/** Typical loudness of speech in each band. */
const usual = Float32Array.from({ length: readerBands }, (_, band) => {
  const place = band / (readerBands - 1);
  return 4 + 14 * place - 20 * place ** 2;
});

/**
 * Writes a model with the interface of WavLM-large SV. It can tell readers apart, though by little more than their
 * microphones: the log power of each band over the whole clip, minus the typical one.
 */
export function writeSmallReaders(modelPath: string): Promise<SmallModel> {
  const bank = (shape: (angle: number) => number) => ({ sizes: [readerBands, 1, 400], values: filters(shape) });
  const part = (name: string): GraphNode[] => [
    node('Conv', ['sound', name], [`${name} heard`], { strides: [160] }),
    node('Mul', [`${name} heard`, `${name} heard`], [`${name} power`]),
  ];
  return write(modelPath, {
    inputs: [{ name: 'wav', sizes: ['N', 'T'] }],
    outputs: [{ name: 'embedding', sizes: ['N', readerBands] }],
    nodes: [
      node('Unsqueeze', ['wav', 'channel'], ['sound']),
      ...part('cosines'),
      ...part('sines'),
      node('Add', ['cosines power', 'sines power'], ['power']),
      node('ReduceMean', ['power'], ['mean'], { axes: [2], keepdims: 0 }),
      node('Log', ['mean'], ['loudness']),
      node('Sub', ['loudness', 'usual'], ['embedding']),
    ],
    constants: {
      channel: [1],
      cosines: bank(Math.cos),
      sines: bank(Math.sin),
      usual: { sizes: [readerBands], values: usual },
    },
  });
}

interface SmallShape {
  readonly input: string;
  readonly output: string;
  /** 1: takes one clip at a time. */
  readonly batch: string | number;
  readonly dimensions: number;
}

/** Writes a model shaped like an export of WavLM-large SV: returns its first 256 samples, plus a hundredth. */
export function writeSmallWavlm(modelPath: string): Promise<SmallModel> {
  return write(modelPath, {
    inputs: [{ name: 'wav', sizes: ['N', 'T'] }],
    outputs: [{ name: 'embedding', sizes: ['N', 256] }],
    nodes: [node('Slice', ['wav', 'from', 'to', 'axis'], ['first']), node('Add', ['first', 'bias'], ['embedding'])],
    constants: { bias, from: [0], to: [256], axis: [1] },
  });
}

/** Writes a model shaped like DNSMOS P.835: returns the first three samples of a window, plus 3. */
export function writeSmallP835(modelPath: string): Promise<SmallModel> {
  return write(modelPath, {
    inputs: [{ name: 'input_1', sizes: ['N', 144_160] }],
    outputs: [{ name: 'Identity:0', sizes: ['N', 3] }],
    nodes: [
      node('Slice', ['input_1', 'from', 'to', 'axis'], ['first']),
      node('Add', ['first', 'three'], ['Identity:0']),
    ],
    constants: { from: [0], to: [3], axis: [1], three: { sizes: [1], values: Float32Array.of(3) } },
  });
}

/** Writes a model shaped like DNSMOS P.808: returns the mean of the features. */
export function writeSmallP808(modelPath: string): Promise<SmallModel> {
  return write(modelPath, {
    inputs: [{ name: 'input_1', sizes: ['N', 900, 120] }],
    outputs: [{ name: 'Identity:0', sizes: ['N', 1] }],
    nodes: [
      node('ReduceMean', ['input_1'], ['mean'], { axes: [1], keepdims: 0 }),
      node('ReduceMean', ['mean'], ['Identity:0'], { axes: [1], keepdims: 1 }),
    ],
    constants: {},
  });
}
