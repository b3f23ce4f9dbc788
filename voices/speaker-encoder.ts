import type { AudioFrame } from './audio.ts';
import type { CallOptions } from './engine.ts';

/**
 * Computes speaker embeddings: similar voices get embeddings that are close together. Embeddings have length 1, so the
 * dot product of two is their cosine. Embeddings of encoders with different names must not be compared. Accepts clips
 * of any sample rate; one under half a second throws `ENGINE_REFUSED`.
 */
export interface SpeakerEncoder {
  /** Identifies the exact weights. */
  readonly name: string;
  /** Sample rate of the model; other clips are resampled. */
  readonly sampleRate: number;
  readonly dimensions: number;
  embed(clip: AudioFrame, options: CallOptions): Promise<Float32Array>;
}

/** Cosine similarity of two embeddings, -1 to 1. Throws a `RangeError` if their lengths differ. */
export function cosine(one: ArrayLike<number>, other: ArrayLike<number>): number {
  if (one.length !== other.length)
    throw new RangeError(`embeddings of ${one.length} and ${other.length} dimensions cannot be compared`);
  let [product, ones, others] = [0, 0, 0];
  for (let index = 0; index < one.length; index += 1) {
    const [a, b] = [one[index] as number, other[index] as number];
    product += a * b;
    ones += a * a;
    others += b * b;
  }
  return ones === 0 || others === 0 ? 0 : product / Math.sqrt(ones * others);
}

/** Mean cosine of each embedding to the others, as SpeechRole (A.2) ranks clips; 1 for a single one. Linear time. */
export function centralities(embeddings: readonly ArrayLike<number>[]): number[] {
  if (embeddings.length < 2) return embeddings.map(() => 1);
  const units = embeddings.map(unitOf);
  const sum = new Float64Array(units[0]?.length ?? 0);
  for (const unit of units) for (const [index, value] of unit.entries()) sum[index] = (sum[index] as number) + value;
  return units.map((unit) => {
    const product = unit.reduce((total, value, index) => total + value * (sum[index] as number), 0);
    const own = unit.reduce((total, value) => total + value * value, 0);
    return (product - own) / (units.length - 1);
  });
}

/** Scales a vector to length 1; a zero vector stays zero. */
export function unitOf(vector: ArrayLike<number>): Float64Array {
  const values = Float64Array.from(vector);
  const length = Math.hypot(...values);
  return length === 0 ? values : values.map((value) => value / length);
}
