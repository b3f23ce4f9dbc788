import { existsSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { env, InferenceSession, Tensor } from 'onnxruntime-node';
import { EngineError } from '../engine.ts';
import { serveWorker } from '../worker-serve.ts';
import type { SileroBatch, SileroScores, SileroWorkerData } from './silero.ts';

const { modelPath, inputSamples, stateSize, sampleRate } = workerData as SileroWorkerData;
env.logLevel = 'error';
const rate = new Tensor('int64', BigInt64Array.of(BigInt(sampleRate)), []);
let session: Promise<InferenceSession> | undefined;

serveWorker<SileroBatch, SileroScores>(async ({ count, inputs, states }) => {
  session ??= loadModel();
  const scored = await (
    await session
  ).run({
    input: new Tensor('float32', inputs.subarray(0, count * inputSamples), [count, inputSamples]),
    state: new Tensor('float32', states.subarray(0, count * stateSize), [2, count, stateSize / 2]),
    sr: rate,
  });
  const { output, stateN } = scored;
  if (output === undefined || stateN === undefined) throw new Error(`${modelPath} is not a Silero model`);
  const probabilities = Float32Array.from(output.data as Float32Array);
  states.set(stateN.data as Float32Array);
  return { reply: { probabilities, inputs, states }, transfer: [probabilities.buffer, inputs.buffer, states.buffer] };
});

async function loadModel(): Promise<InferenceSession> {
  if (!existsSync(modelPath)) throw new EngineError('model', 'ENGINE_MISSING', `${modelPath} is missing: run npm ci`);
  return InferenceSession.create(modelPath, {
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    graphOptimizationLevel: 'all',
  });
}
