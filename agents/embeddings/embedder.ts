import type { CallOptions } from '../../voices/engine.ts';

/** Turns texts into points whose nearness is nearness of meaning. */
export interface Embedder {
  readonly name: string;
  /** Points of one model alone are comparable. */
  readonly model: string;
  /** One point of length 1 for each text, in their order, all of the same dimension. Throws `EngineError`, or `signal.reason`. */
  embed(texts: readonly string[], options: CallOptions): Promise<readonly Float32Array[]>;
}

/** The same direction at length 1; a point at the origin stays there. */
export function unitOf(point: readonly number[]): Float32Array {
  const length = Math.hypot(...point);
  return Float32Array.from(point, (value) => (length === 0 ? 0 : value / length));
}

/** How alike two points of length 1 and one dimension are: 1 the same, 0 nothing in common. */
export function likeness(left: Float32Array, right: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < left.length; at += 1) sum += (left[at] as number) * (right[at] as number);
  return sum;
}
