import { concatSamples } from '../audio.ts';
import type { PcmBlock } from '../calls/pcm-stream.ts';

/** Joins pieces of audio by cross-fading; each begins by repeating the last `overlapMs` of the one before. */
export async function* crossFaded(
  pieces: AsyncIterable<Float32Array>,
  sampleRate: number,
  overlapMs: number,
): AsyncGenerator<PcmBlock> {
  const overlap = Math.round((overlapMs * sampleRate) / 1_000);
  let tail = new Float32Array(0);
  for await (const piece of pieces) {
    const joined = blend(tail, piece);
    const kept = Math.max(0, joined.length - overlap);
    if (kept > 0) yield { samples: joined.subarray(0, kept), sampleRate };
    tail = joined.slice(kept);
  }
  if (tail.length > 0) yield { samples: tail, sampleRate };
}

/** Cross-fades the end of one piece into the beginning of the next. */
function blend(tail: Float32Array, next: Float32Array): Float32Array {
  const shared = Math.min(tail.length, next.length);
  const faded = Float32Array.from({ length: shared }, (_, index) => {
    const weight = (index + 0.5) / shared;
    return (tail[tail.length - shared + index] ?? 0) * (1 - weight) + (next[index] ?? 0) * weight;
  });
  return concatSamples([tail.subarray(0, tail.length - shared), faded, next.subarray(shared)]);
}
