import { EngineError, type CallOptions } from '../engine.ts';
import { openMicroBatch } from '../runtime/micro-batch.ts';
import { hashModel, type ModelFile } from '../onnx/onnx-model.ts';
import { unitOf, type SpeakerEncoder } from '../speaker-encoder.ts';
import { openWorkerPool } from '../runtime/worker-pool.ts';
import type { FrontEndName } from './front-ends.ts';

export interface OnnxSpeakerOptions extends CallOptions {
  /** The ONNX file of CAM++ or of WavLM-large SV, which the user brings. */
  readonly modelPath: string;
  /** Lower-case hex; where it is given, no other file is loaded. */
  readonly sha256?: string;
  /** Threads, each with a model of its own; 1 unless given. */
  readonly workers?: number;
  /** Clips of equal length that share a run, at most; 8 unless given. */
  readonly mostClips?: number;
}

/** What the worker is started with. */
export type SpeakerWorkerData = ModelFile;

/** A clip on its way to the worker. */
export interface SpeakerClip {
  readonly samples: Float32Array<ArrayBuffer>;
  readonly sampleRate: number;
}

/** Embeddings one after the other, as the model gives them. */
export interface SpeakerReply {
  readonly family: FrontEndName;
  readonly dimensions: number;
  readonly embeddings: Float32Array<ArrayBuffer>;
}

/** Of all models known here, in hertz. */
export const speakerSampleRate = 16_000;

const engine = 'speaker encoder';
const advice =
  'get CAM++ as ONNX (3D-Speaker, or the speaker models of sherpa-onnx), or WavLM-large SV with "wav" → "embedding"';
/** Under half a second no voice shows. */
const leastSeconds = 0.5;

/**
 * Opens a speaker model in a worker thread: CAM++ (3D-Speaker, Apache-2.0: 192 numbers, as the paper ranks clips) or
 * WavLM-large SV (256; the SIM of Seed-TTS-eval), told by the names of input and output. Clips of equal length that come
 * together share a run. No package ships weights, and none were at hand when this was written: features are checked against
 * reference values, names and shapes against the exports' sources, but the models themselves have never run here.
 * `ENGINE_MISSING` where the file is not there, is another than asked for, or no such model.
 */
export async function openOnnxSpeaker(
  options: OnnxSpeakerOptions,
): Promise<SpeakerEncoder & { readonly family: FrontEndName; close(): Promise<void> }> {
  const { modelPath: path, signal, workers = 1, mostClips = 8 } = options;
  const file = { engine, path, advice };
  const hash = await hashModel(file, options.sha256);
  const pool = openWorkerPool<readonly SpeakerClip[], SpeakerReply>({
    name: engine,
    url: new URL('./speaker-worker.ts', import.meta.url),
    size: workers,
    workerData: file satisfies SpeakerWorkerData,
    finishMs: 10_000,
  });
  const never = new AbortController().signal;
  const call = (clips: readonly SpeakerClip[], ends: AbortSignal): Promise<SpeakerReply> =>
    pool.call(clips, { signal: ends, transfer: clips.map(({ samples }) => samples.buffer) });
  try {
    const trial = { samples: new Float32Array(speakerSampleRate), sampleRate: speakerSampleRate };
    const { family, dimensions } = await call([trial], signal);
    const batches = openMicroBatch<SpeakerClip, Float32Array>({
      kindOf: ({ samples, sampleRate }) => `${samples.length}@${sampleRate}`,
      mostItems: mostClips,
      lanes: workers,
      async run(clips) {
        const reply = await call(clips, never);
        return clips.map((_, place) => unitEmbedding(reply.embeddings, place, dimensions, path));
      },
    });
    return {
      name: `${family}-${dimensions}@${hash.slice(0, 12)}`,
      family,
      sampleRate: speakerSampleRate,
      dimensions,
      async embed({ samples, sampleRate }, { signal }) {
        signal.throwIfAborted();
        if (samples.length < leastSeconds * sampleRate) {
          throw new EngineError(engine, 'ENGINE_REFUSED', 'the clip is under half a second long: take a longer one');
        }
        const embedding = await batches.add({ samples: new Float32Array(samples), sampleRate }, { signal });
        signal.throwIfAborted();
        return embedding;
      },
      close: () => pool.close(),
    };
  } catch (reason) {
    await pool.close();
    throw reason;
  }
}

function unitEmbedding(all: Float32Array, place: number, dimensions: number, path: string): Float32Array {
  const embedding = all.subarray(place * dimensions, (place + 1) * dimensions);
  if (embedding.length === dimensions && embedding.every((value) => Number.isFinite(value))) {
    return Float32Array.from(unitOf(embedding));
  }
  throw new EngineError(engine, 'ENGINE_BAD_REPLY', `${path} gives what is no embedding`);
}
