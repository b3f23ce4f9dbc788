import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { workerData } from 'node:worker_threads';
import { Tensor } from 'onnxruntime-node';
import { EngineError } from '../engine.ts';
import { openModelSession, type ModelSession } from '../onnx/model-session.ts';
import { serveWorker } from '../runtime/worker-serve.ts';
import { cutFrames, sileroFrameSizes, sileroGraph, sileroStateSizes } from './silero-graph.ts';
import type { SileroBatch, SileroScores, SileroWorkerData } from './silero.ts';

/** Scores a batch, replaces its states with the new ones, and returns one probability per window. */
type Score = (batch: SileroBatch) => Promise<Float32Array<ArrayBuffer>>;

const { modelPath, inputSamples, stateSize, sampleRate, plain } = workerData as SileroWorkerData;
let loading: Promise<Score> | undefined;

serveWorker<SileroBatch, SileroScores>(async (batch) => {
  loading ??= loadModel();
  const score = await loading;
  const probabilities = await score(batch);
  return { reply: { probabilities }, transfer: [probabilities.buffer] };
});

async function loadModel(): Promise<Score> {
  if (!existsSync(modelPath)) throw new EngineError('model', 'ENGINE_MISSING', `${modelPath} is missing: run npm ci`);
  try {
    const file = await readFile(modelPath);
    const graph = plain ? undefined : sileroGraph(file);
    const session = await openModelSession('silero', graph ?? file, {
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
      executionMode: 'sequential',
      graphOptimizationLevel: 'all',
    });
    return graph === undefined ? scorePlainly(session) : scoreFast(session);
  } catch (cause) {
    throw new EngineError('model', 'ENGINE_MISSING', `${modelPath} cannot be loaded: run npm ci`, cause);
  }
}

/** Scores with the graph that `sileroGraph` made. */
function scoreFast(session: ModelSession): Score {
  let frames = new Float32Array(0);
  let before = new Float32Array(0);
  return async ({ count, inputs, states }) => {
    const half = (count * stateSize) / 2;
    const [rows, columns] = sileroFrameSizes(count);
    if (frames.length < rows * columns) frames = new Float32Array(rows * columns);
    cutFrames(inputs, count, frames);
    // The runtime takes no shared memory.
    if (before.length < 2 * half) before = new Float32Array(2 * half);
    before.set(states.subarray(0, 2 * half));
    const { speech, hiddenNext, cellNext } = await session.run({
      frames: new Tensor('float32', frames.subarray(0, rows * columns), [rows, columns]),
      hidden: new Tensor('float32', before.subarray(0, half), sileroStateSizes(count)),
      cell: new Tensor('float32', before.subarray(half, 2 * half), sileroStateSizes(count)),
    });
    states.set(hiddenNext?.data as Float32Array);
    states.set(cellNext?.data as Float32Array, half);
    return Float32Array.from(speech?.data as Float32Array);
  };
}

/** Scores with the unchanged model file. */
function scorePlainly(session: ModelSession): Score {
  const rate = new Tensor('int64', BigInt64Array.of(BigInt(sampleRate)), []);
  return async ({ count, inputs, states }) => {
    const { output, stateN } = await session.run({
      input: new Tensor('float32', new Float32Array(inputs.subarray(0, count * inputSamples)), [count, inputSamples]),
      state: new Tensor('float32', new Float32Array(states.subarray(0, count * stateSize)), [2, count, stateSize / 2]),
      sr: rate,
    });
    if (output === undefined || stateN === undefined) throw new Error(`${modelPath} is not a Silero model`);
    states.set(stateN.data as Float32Array);
    return Float32Array.from(output.data as Float32Array);
  };
}
