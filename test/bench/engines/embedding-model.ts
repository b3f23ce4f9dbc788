import { writeFile } from 'node:fs/promises';
import { writeOnnx, type FloatTensor, type GraphNode } from '../../fakes/models/onnx-file.ts';

const width = 512;
const layers = 20;
const dimensions = 192;

/**
 * Writes a model with the names of CAM++ and about its size and cost: 5.3 million weights, 1.6 billion multiplications
 * for three seconds. It is untrained; the real one is not available here.
 */
export async function writeEmbeddingSized(file: string): Promise<void> {
  const matrix = (rows: number, columns: number): FloatTensor => ({
    sizes: [rows, columns],
    values: Float32Array.from({ length: rows * columns }, (_, index) => Math.sin(index * 12.9898) / Math.sqrt(rows)),
  });
  const nodes: GraphNode[] = [];
  const constants: Record<string, FloatTensor> = {};
  let last = 'x';
  for (let layer = 0; layer < layers; layer += 1) {
    constants[`weights${layer}`] = matrix(layer === 0 ? 80 : width, width);
    nodes.push({ operation: 'MatMul', inputs: [last, `weights${layer}`], outputs: [`product${layer}`] });
    nodes.push({ operation: 'Relu', inputs: [`product${layer}`], outputs: [`layer${layer}`] });
    last = `layer${layer}`;
  }
  constants['head'] = matrix(width, dimensions);
  nodes.push({ operation: 'ReduceMean', inputs: [last], outputs: ['mean'], attributes: { axes: [1], keepdims: 0 } });
  nodes.push({ operation: 'MatMul', inputs: ['mean', 'head'], outputs: ['embedding'] });
  const bytes = writeOnnx({
    inputs: [{ name: 'x', sizes: ['N', 'T', 80] }],
    outputs: [{ name: 'embedding', sizes: ['N', dimensions] }],
    nodes,
    constants,
  });
  await writeFile(file, bytes);
}
