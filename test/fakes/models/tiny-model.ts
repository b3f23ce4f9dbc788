import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Weights } from '../../../voices/models/weights.ts';
import { writeOnnx, type FloatTensor, type GraphNode, type OnnxGraph } from './onnx-file.ts';

/**
 * Writer of tiny models. Tests cannot download weights. These models have the names, shapes and metadata of the real
 * ones, so that the real runtime loads and runs them, and their output is constant.
 */
export interface TinyFiles {
  /** Writes a file; returns its reference for an engine's settings. */
  write(name: string, content: string | Uint8Array): Promise<Weights>;
  onnx(name: string, graph: OnnxGraph): Promise<Weights>;
}

export function tinyFiles(folder: string): TinyFiles {
  const write = async (name: string, content: string | Uint8Array): Promise<Weights> => {
    const place = path.join(folder, name);
    await writeFile(place, content);
    return { path: place, sha256: createHash('sha256').update(content).digest('hex') };
  };
  return { write, onnx: (name, graph) => write(name, writeOnnx(graph)) };
}

export function node(
  operation: string,
  inputs: readonly string[],
  outputs: readonly string[],
  attributes: GraphNode['attributes'] = {},
): GraphNode {
  return { operation, inputs, outputs, attributes };
}

export function tensor(sizes: readonly number[], valueAt: (index: number) => number = () => 0): FloatTensor {
  const length = sizes.reduce((product, size) => product * size, 1);
  return { sizes, values: Float32Array.from({ length }, (_, index) => valueAt(index)) };
}

/** Rows of scores, each with one winning column. */
export function winners(columns: number, winnerOf: readonly number[]): FloatTensor {
  return tensor([winnerOf.length, columns], (index) =>
    index % columns === winnerOf[Math.floor(index / columns)] ? 1 : 0,
  );
}

/** A token list in sherpa-onnx's format. */
export function tokenList(tokens: readonly string[]): string {
  return tokens.map((token, id) => `${token} ${id}\n`).join('');
}

/** Type codes of `onnx.proto3`, for `Cast`. */
export const castTo = { float: { to: 1 }, int32: { to: 6 }, int64: { to: 7 } } as const;
