import type { CallOptions } from '../../voices/engine.ts';

/** Text embedding model. */
export interface Embedder {
  readonly name: string;
  /** Model name; embeddings are comparable only within one model. */
  readonly model: string;
  /** An embedding of length 1 for each text, in order, all of one dimension. Throws `EngineError`, `signal.reason`. */
  embed(texts: readonly string[], options: CallOptions): Promise<readonly Float32Array[]>;
}

/** Normalizes a vector to length 1; a zero vector stays zero. */
export function unitOf(embedding: readonly number[]): Float32Array {
  let squares = 0;
  for (const value of embedding) squares += value * value;
  // Avoids division by zero for a zero vector.
  const length = Math.sqrt(squares) || 1;
  const unit = new Float32Array(embedding.length);
  for (let at = 0; at < embedding.length; at += 1) unit[at] = (embedding[at] as number) / length;
  return unit;
}

/** Cosine similarity of two vectors of length 1 and equal dimension. */
export function cosineSimilarity(left: Float32Array, right: Float32Array): number {
  // Four accumulators: an addition need not wait for the previous one.
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
