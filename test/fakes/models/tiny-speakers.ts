import type { Weights } from '../../../voices/models/weights.ts';
import { node, tensor, type TinyFiles } from './tiny-model.ts';

/** Mel energy bands. */
export const tinyDimensions = 80;

/** A speaker encoder in the form of 3D-Speaker's (CAM++, ERes2Net), which identifies people by the pitch they hum. */
export function tinyEncoder(files: TinyFiles): Promise<Weights> {
  return files.onnx('speaker.onnx', {
    metadata: {
      framework: '3d-speaker',
      language: 'Chinese-English',
      sample_rate: 16_000,
      output_dim: tinyDimensions,
      normalize_samples: 1,
      feature_normalize_type: '',
    },
    inputs: [{ name: 'x', sizes: ['N', 'T', 80] }],
    outputs: [{ name: 'embedding', sizes: ['N', tinyDimensions] }],
    nodes: [
      node('Add', ['x', 'quiet'], ['above']),
      node('Relu', ['above'], ['heard']),
      node('ReduceMean', ['heard'], ['embedding'], { axes: [1], keepdims: 0 }),
    ],
    constants: { quiet: tensor([1], () => 4) },
  });
}

const [fieldSamples, shiftSamples, windowSamples] = [991, 270, 16_000];
const frames = Math.floor((windowSamples - fieldSamples) / shiftSamples) + 1;
/** No speaker, each of three speakers, each pair of them. */
const classes = 7;

/** A segmentation model in pyannote's form, which detects the first of three speakers in all non-silent frames. */
export function tinySegmentation(files: TinyFiles): Promise<Weights> {
  return files.onnx('segmentation.onnx', {
    metadata: {
      sample_rate: 16_000,
      window_size: windowSamples,
      receptive_field_size: fieldSamples,
      receptive_field_shift: shiftSamples,
      num_speakers: 3,
      powerset_max_classes: 2,
      num_classes: classes,
    },
    inputs: [{ name: 'x', sizes: ['N', 1, 'T'] }],
    outputs: [{ name: 'y', sizes: ['N', frames, classes] }],
    nodes: [
      node('Abs', ['x'], ['size']),
      node('AveragePool', ['size'], ['level'], { kernel_shape: [fieldSamples], strides: [shiftSamples] }),
      node('Reshape', ['level', 'shape'], ['column']),
      node('Mul', ['column', 'someone'], ['scores']),
      node('Add', ['scores', 'nobody'], ['y']),
    ],
    constants: {
      shape: [0, -1, 1],
      someone: tensor([classes], (index) => (index === 1 ? 1 : 0)),
      nobody: tensor([classes], (index) => (index === 0 ? 0.02 : 0)),
    },
  });
}
