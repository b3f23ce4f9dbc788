import { stat } from 'node:fs/promises';
import { env, InferenceSession } from 'onnxruntime-node';
import {
  giveBackDeviceMemory,
  providersFor,
  reportExecution,
  takeDeviceMemory,
  type ExecutedModel,
  type ExecutionReport,
  type Provider,
} from './execution.ts';

/** A loaded model, on whatever runs it. */
export type ModelSession = Pick<InferenceSession, 'run' | 'inputNames' | 'outputNames' | 'inputMetadata'>;

/** Makes a session on one provider; tests have their own. */
export type CreateSession = (
  file: string | Uint8Array,
  options: InferenceSession.SessionOptions,
) => Promise<ModelSession>;

/** Weights, and what is worked with; there is no way to ask beforehand. */
const timesWeights = 2;

/**
 * Loads a model on the first provider of the plan that takes it, and tells which it is. Where that one fails in a run, the model goes
 * on on the processor, with the same input. Rejects where even the processor cannot load it. Blocks: for worker threads.
 */
export async function openModelSession(
  model: ExecutedModel,
  file: string | Uint8Array,
  options: Omit<InferenceSession.SessionOptions, 'executionProviders'>,
  create: CreateSession = (...given) =>
    InferenceSession.create(...(given as [string, InferenceSession.SessionOptions])),
): Promise<ModelSession> {
  // The runtime's own words about a provider that is not there are many, and say what we say.
  env.logLevel = 'fatal';
  const failed: ExecutionReport['failed'][number][] = [];
  const neededMb = Math.ceil((timesWeights * (typeof file === 'string' ? await sizeOf(file) : file.length)) / 1e6);
  for (const provider of providersFor(model)) {
    if (provider === 'cpu') break;
    if (!takeDeviceMemory(neededMb)) {
      failed.push({ provider, why: `over the cap on device memory (DRAMATIS_GPU_MEMORY_MB), needs ${neededMb} MB` });
      continue;
    }
    try {
      const session = await create(file, { ...options, executionProviders: [provider] });
      reportExecution({ model, provider, failed });
      const toProcessor = async (why: string): Promise<ModelSession> => {
        giveBackDeviceMemory(neededMb);
        const spare = await create(file, onProcessor(options));
        reportExecution({ model, provider: 'cpu', failed: [{ provider, why }] });
        return spare;
      };
      return withSpare(session, toProcessor);
    } catch (fault) {
      giveBackDeviceMemory(neededMb);
      failed.push({ provider, why: lineOf(fault) });
    }
  }
  const session = await create(file, onProcessor(options));
  reportExecution({ model, provider: 'cpu', failed });
  return session;
}

function onProcessor(options: InferenceSession.SessionOptions): InferenceSession.SessionOptions {
  return { ...options, executionProviders: ['cpu' satisfies Provider] };
}

/** A session that another takes over from when a run fails; a run that fails there too is the input's fault. */
function withSpare(session: ModelSession, takeOver: (why: string) => Promise<ModelSession>): ModelSession {
  let spare: Promise<ModelSession> | undefined;
  const { inputNames, outputNames, inputMetadata } = session;
  const run = async (...given: readonly unknown[]): Promise<InferenceSession.ReturnType> => {
    const call = given as Parameters<InferenceSession['run']>;
    if (spare !== undefined) return (await spare).run(...call);
    try {
      return await session.run(...call);
    } catch (fault) {
      spare ??= takeOver(lineOf(fault));
      return (await spare).run(...call);
    }
  };
  return { inputNames, outputNames, inputMetadata, run };
}

async function sizeOf(file: string): Promise<number> {
  return (await stat(file).catch(() => undefined))?.size ?? 0;
}

/** The first line of a fault of the runtime, without the places in its source. */
export function lineOf(fault: unknown): string {
  const text = fault instanceof Error ? fault.message : String(fault);
  return (text.split('\n')[0] ?? '')
    .replace(/^\/\S+:\d+ .*? was false\. /, '')
    .replace(/^OrtSession\w+: /, '')
    .slice(0, 200);
}
