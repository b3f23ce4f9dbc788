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
  let squares = 0;
  for (const value of point) squares += value * value;
  // A point at the origin is divided by 1.
  const length = Math.sqrt(squares) || 1;
  const unit = new Float32Array(point.length);
  for (let at = 0; at < point.length; at += 1) unit[at] = (point[at] as number) / length;
  return unit;
}

/** How alike two points of length 1 and one dimension are: 1 the same, 0 nothing in common. */
export function likeness(left: Float32Array, right: Float32Array): number {
  // Four sums at a time: the next addition need not wait for the last.
  let [first, second, third, fourth] = [0, 0, 0, 0];
  const whole = left.length - (left.length % 4);
  for (let at = 0; at < whole; at += 4) {
    first += (left[at] as number) * (right[at] as number);
    second += (left[at + 1] as number) * (right[at + 1] as number);
    third += (left[at + 2] as number) * (right[at + 2] as number);
    fourth += (left[at + 3] as number) * (right[at + 3] as number);
  }
  for (let at = whole; at < left.length; at += 1) first += (left[at] as number) * (right[at] as number);
  return first + second + third + fourth;
}
