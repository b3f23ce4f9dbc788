import { workerData } from 'node:worker_threads';
import { Tensor } from 'onnxruntime-node';
import { runInBackground } from '../runtime/background-thread.ts';
import { EngineError } from '../engine.ts';
import type { ModelSession } from '../onnx/model-session.ts';
import { loadModel, type ModelFile } from '../onnx/onnx-model.ts';
import { resample } from '../dsp/resampler.ts';
import { serveWorker } from '../runtime/worker-serve.ts';
import { dnsmosBands, dnsmosFrames, dnsmosMel, dnsmosSampleRate, dnsmosWindowSamples } from './dnsmos-features.ts';
import type { DnsmosReply, DnsmosRequest, DnsmosWorkerData } from './dnsmos.ts';

const { p835, p808 } = workerData as DnsmosWorkerData;
const inputName = 'input_1';
const outputName = 'Identity:0';
runInBackground();
let loading: Promise<readonly [ModelSession, ModelSession | undefined]> | undefined;

serveWorker<DnsmosRequest, DnsmosReply>(async (request) => {
  if (request.type === 'resample') {
    const samples = new Float32Array(resample(request.samples, request.sampleRate, dnsmosSampleRate));
    return { reply: { samples, scores: [] }, transfer: [samples.buffer] };
  }
  const { windows } = request;
  loading ??= Promise.all([load(p835), p808 === undefined ? undefined : load(p808)]);
  const [opinions, overall] = await loading;
  const raw = await run(opinions, windows, [dnsmosWindowSamples]);
  const extra = overall === undefined ? [] : await run(overall, windows.map(dnsmosMel), [dnsmosFrames, dnsmosBands]);
  const scores = raw.map((opinion, index) => [...opinion, ...(extra[index] ?? [])]);
  return { reply: { samples: new Float32Array(0), scores } };
});

async function run(
  session: ModelSession,
  items: readonly Float32Array[],
  sizes: readonly number[],
): Promise<number[][]> {
  const length = sizes.reduce((product, size) => product * size, 1);
  const values = new Float32Array(items.length * length);
  for (const [index, item] of items.entries()) values.set(item, index * length);
  const made = await session.run({ [inputName]: new Tensor('float32', values, [items.length, ...sizes]) });
  const data = made[outputName]?.data as Float32Array;
  const width = data.length / items.length;
  return items.map((_, index) => [...data.subarray(index * width, (index + 1) * width)]);
}

async function load(file: ModelFile): Promise<ModelSession> {
  const session = await loadModel(file, 'dnsmos');
  if (session.inputNames.includes(inputName) && session.outputNames.includes(outputName)) {
    return session;
  }
  throw new EngineError(file.engine, 'ENGINE_MISSING', `${file.path} is a different model: ${file.advice}`);
}
