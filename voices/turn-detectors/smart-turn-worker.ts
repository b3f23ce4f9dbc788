import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { workerData } from 'node:worker_threads';
import { Tensor } from 'onnxruntime-node';
import { EngineError } from '../engine.ts';
import { melBands, smartTurnFeatures } from '../dsp/log-mel.ts';
import { oneThread, openModelSession, type ModelSession } from '../onnx/model-session.ts';
import { serveWorker } from '../runtime/worker-serve.ts';
import type { SmartTurnWorkerData } from './smart-turn.ts';

const { modelPath, sha256 } = workerData as SmartTurnWorkerData;
const inputName = 'input_features';
/** A misnomer: the model's last layer turns the logit into a probability. */
const outputName = 'logits';
const advice =
  'download smart-turn-v3.2-cpu.onnx (pipecat-ai/pipecat, src/pipecat/audio/turn/smart_turn/data; or pipecat-ai/smart-turn-v3 on Hugging Face)';
let loading: Promise<ModelSession> | undefined;

serveWorker<Float32Array, number>(async (samples) => {
  loading ??= loadModel();
  const session = await loading.catch((cause: unknown) => {
    // The file may be there at the next call.
    loading = undefined;
    throw cause;
  });
  const { frames, values } = smartTurnFeatures(samples);
  const scored = await session.run({ [inputName]: new Tensor('float32', values, [1, melBands, frames]) });
  return { reply: Number(scored[outputName]?.data[0]) };
});

async function loadModel(): Promise<ModelSession> {
  const file = await readFile(modelPath).catch((cause: unknown) => {
    throw missing(`its weights are not at ${modelPath}: ${advice} and set the path to it`, cause);
  });
  const found = createHash('sha256').update(file).digest('hex');
  if (found !== sha256) {
    throw missing(
      `${modelPath} has the SHA-256 ${found}, not ${sha256}: ${advice}, or set the hash of the file you trust`,
    );
  }
  const session = await openModelSession('smart-turn', file, oneThread).catch((cause: unknown) => {
    throw missing(`${modelPath} cannot be loaded: ${advice}`, cause);
  });
  if (session.inputNames.includes(inputName) && session.outputNames.includes(outputName)) return session;
  throw missing(`${modelPath} is a different model: ${advice}`);
}

function missing(detail: string, cause?: unknown): EngineError {
  return new EngineError('smart-turn', 'ENGINE_MISSING', detail, cause);
}
