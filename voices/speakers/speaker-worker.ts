import { workerData } from 'node:worker_threads';
import { Tensor } from 'onnxruntime-node';
import { runInBackground } from '../runtime/background-thread.ts';
import { EngineError } from '../engine.ts';
import type { ModelSession } from '../onnx/model-session.ts';
import { loadModel, takesOneAtATime } from '../onnx/onnx-model.ts';
import { resample } from '../dsp/resampler.ts';
import { serveWorker } from '../runtime/worker-serve.ts';
import { frontEnds, frontEndOf, type FrontEndName, type ModelInput } from './front-ends.ts';
import { speakerSampleRate, type SpeakerClip, type SpeakerReply, type SpeakerWorkerData } from './onnx-speaker.ts';

interface Loaded {
  readonly session: ModelSession;
  readonly family: FrontEndName;
  readonly input: string;
  readonly oneAtATime: boolean;
}

const file = workerData as SpeakerWorkerData;
runInBackground();
let loading: Promise<Loaded> | undefined;

/** Takes clips of equal length and rate; returns their concatenated embeddings. */
serveWorker<readonly SpeakerClip[], SpeakerReply>(async (clips) => {
  loading ??= load();
  const loaded = await loading;
  const inputs = clips.map(({ samples, sampleRate }) => {
    return frontEnds[loaded.family].prepare(resample(samples, sampleRate, speakerSampleRate));
  });
  const batches = loaded.oneAtATime ? inputs.map((input) => [input]) : [inputs];
  const parts: Float32Array[] = [];
  for (const batch of batches) parts.push(await embed(loaded, batch));
  const embeddings = Float32Array.from(parts.flatMap((part) => [...part]));
  return {
    reply: { family: loaded.family, dimensions: embeddings.length / clips.length, embeddings },
    transfer: [embeddings.buffer],
  };
});

async function embed({ session, family, input }: Loaded, batch: readonly ModelInput[]): Promise<Float32Array> {
  const [first] = batch;
  if (first === undefined) return new Float32Array(0);
  const values = new Float32Array(batch.length * first.values.length);
  for (const [index, each] of batch.entries()) values.set(each.values, index * first.values.length);
  const made = await session.run({ [input]: new Tensor('float32', values, [batch.length, ...first.sizes]) });
  return made[frontEnds[family].output]?.data as Float32Array;
}

async function load(): Promise<Loaded> {
  const session = await loadModel(file, 'speakers');
  const family = frontEndOf(session.inputNames, session.outputNames);
  if (family !== undefined) {
    return { session, family: family.name, input: family.input, oneAtATime: takesOneAtATime(session) };
  }
  const found = `${session.inputNames.join(', ')} → ${session.outputNames.join(', ')}`;
  const detail = `${file.path} (${found}) is not a known speaker model: ${file.advice}`;
  throw new EngineError(file.engine, 'ENGINE_MISSING', detail);
}
