import { workerData } from 'node:worker_threads';
import { env } from 'onnxruntime-node';
import { serveWorker } from '../runtime/worker-serve.ts';
import type { Hypothesis } from '../recognition/hypothesis.ts';
import type { MoonshineRequest } from './moonshine.ts';
import { loadMoonshine, type MoonshineModel, type MoonshineModelOptions } from './moonshine-model.ts';

env.logLevel = 'error';
let loading: Promise<MoonshineModel> | undefined;

serveWorker<MoonshineRequest, Hypothesis>(async ({ samples, carefully }) => {
  loading ??= loadMoonshine(workerData as MoonshineModelOptions);
  const model = await loading;
  return { reply: await model.decode(samples, { carefully }) };
});
