import { EngineError, type CallOptions } from '../engine.ts';
import { openMicroBatch } from '../runtime/micro-batch.ts';
import { hashModel, type ModelFile } from '../onnx/onnx-model.ts';
import { unitOf, type SpeakerEncoder } from '../speaker-encoder.ts';
import { openWorkerPool } from '../runtime/worker-pool.ts';
import type { FrontEndName } from './front-ends.ts';

export interface OnnxSpeakerOptions extends CallOptions {
  /** ONNX file of CAM++ or of WavLM-large SV, which the user provides. */
  readonly modelPath: string;
  /** Expected SHA-256 in lower-case hex; if given, any other file is refused. */
  readonly sha256?: string;
  /** Threads, each with its own model; default 1. */
  readonly workers?: number;
  /** Maximum number of clips of equal length that share a run; default 8. */
  readonly mostClips?: number;
}

/** Start-up data of the worker. */
export type SpeakerWorkerData = ModelFile;

/** Clip sent to the worker. */
export interface SpeakerClip {
  readonly samples: Float32Array<ArrayBuffer>;
  readonly sampleRate: number;
}

/** Concatenated embeddings, as the model outputs them. */
export interface SpeakerReply {
  readonly family: FrontEndName;
  readonly dimensions: number;
  readonly embeddings: Float32Array<ArrayBuffer>;
}

/** Input rate of all supported models, in hertz. */
export const speakerSampleRate = 16_000;

const engine = 'speaker encoder';
const advice =
  'download CAM++ as ONNX (3D-Speaker, or the speaker models of sherpa-onnx), or WavLM-large SV with "wav" → "embedding"';
/** Minimum clip length; a shorter clip does not identify a voice. */
const leastSeconds = 0.5;

/**
 * Opens a speaker encoder in a worker thread: CAM++ (3D-Speaker, Apache-2.0: 192 dimensions, ranks clips as in the
 * paper) or WavLM-large SV (256; the SIM of Seed-TTS-eval), recognized by the names of input and output. Concurrent
 * clips of equal length share a run. No package ships weights, and none were at hand when this was written: features
 * are checked against reference values, names and shapes against the exports' sources, but the models themselves have
 * never run here. Throws `ENGINE_MISSING` if the file is missing, has another hash than requested, or is not such a
 * model.
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
          throw new EngineError(engine, 'ENGINE_REFUSED', 'the clip is shorter than half a second: use a longer one');
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
  throw new EngineError(engine, 'ENGINE_BAD_REPLY', `${path} returned an invalid embedding`);
}
