import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { workerData } from 'node:worker_threads';
import { Tensor } from 'onnxruntime-node';
import { EngineError } from '../engine.ts';
import { oneThread, openModelSession, type ModelSession } from '../onnx/model-session.ts';
import { serveWorker } from '../runtime/worker-serve.ts';
import type { SileroBatch, SileroScores, SileroWorkerData } from './silero.ts';

/** A window of 576 samples and 64 mirrored ones hold four frames. */
const frameSamples = 256;
const hopSamples = 128;
const framesPerWindow = 4;

/** Scores a batch, replaces its states with the new ones, and returns one probability per window. */
type Score = (batch: SileroBatch) => Promise<Float32Array<ArrayBuffer>>;

const { modelPath, inputSamples, stateSize, sampleRate } = workerData as SileroWorkerData;
let loading: Promise<Score> | undefined;

serveWorker<SileroBatch, SileroScores>(async (batch) => {
  loading ??= loadModel();
  const score = await loading;
  const probabilities = await score(batch);
  return { reply: { probabilities }, transfer: [probabilities.buffer] };
});

async function loadModel(): Promise<Score> {
  if (!existsSync(modelPath)) throw new EngineError('model', 'ENGINE_MISSING', `${modelPath} is missing`);
  try {
    const session = await openModelSession('silero', await readFile(modelPath), oneThread);
    return session.inputNames.includes('frames') ? scoreFast(session) : scorePlainly(session);
  } catch (cause) {
    throw new EngineError('model', 'ENGINE_MISSING', `${modelPath} cannot be loaded`, cause);
  }
}

/** Scores with our graph. */
function scoreFast(session: ModelSession): Score {
  let frames = new Float32Array(0);
  let before = new Float32Array(0);
  return async ({ count, inputs, states }) => {
    const half = (count * stateSize) / 2;
    const length = count * framesPerWindow * frameSamples;
    if (frames.length < length) frames = new Float32Array(length);
    cutFrames(inputs, count, frames);
    // The runtime takes no shared memory.
    if (before.length < 2 * half) before = new Float32Array(2 * half);
    before.set(states.subarray(0, 2 * half));
    const { speech, hiddenNext, cellNext } = await session.run({
      frames: new Tensor('float32', frames.subarray(0, length), [count * framesPerWindow, frameSamples]),
      hidden: new Tensor('float32', before.subarray(0, half), [1, count, stateSize / 2]),
      cell: new Tensor('float32', before.subarray(half, 2 * half), [1, count, stateSize / 2]),
    });
    states.set(hiddenNext?.data as Float32Array);
    states.set(cellNext?.data as Float32Array, half);
    return Float32Array.from(speech?.data as Float32Array);
  };
}

/** Cuts windows of 576 samples into four overlapping frames of 256 each, the last ending in 64 mirrored samples. */
function cutFrames(inputs: Float32Array, count: number, frames: Float32Array): void {
  const held = inputSamples - (framesPerWindow - 1) * hopSamples;
  for (let window = 0; window < count; window += 1) {
    const start = window * inputSamples;
    const end = start + inputSamples;
    let to = window * framesPerWindow * frameSamples;
    for (let frame = 0; frame < framesPerWindow; frame += 1, to += frameSamples) {
      const from = start + frame * hopSamples;
      frames.set(inputs.subarray(from, Math.min(from + frameSamples, end)), to);
    }
    const mirror = to - frameSamples + held;
    for (let index = 0; index < frameSamples - held; index += 1) {
      frames[mirror + index] = inputs[end - 2 - index] as number;
    }
  }
}

/** Scores with a model file as its authors publish it. */
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
