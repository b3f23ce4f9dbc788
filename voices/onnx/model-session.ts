import { InferenceSession } from 'onnxruntime-node';
import { openOnDevice } from './open-on-device.ts';
import { lineOf } from './fault-line.ts';
import {
  plannedDevice,
  providersFor,
  reportExecution,
  type ExecutedModel,
  type ExecutionReport,
  type Provider,
} from './execution.ts';

/** A loaded model on any execution provider. */
export type ModelSession = Pick<InferenceSession, 'run' | 'inputNames' | 'outputNames' | 'inputMetadata'>;

type Options = Omit<InferenceSession.SessionOptions, 'executionProviders'>;

/** Creates a session on one provider; tests inject their own. */
export type CreateSession = (provider: Provider, file: string | Uint8Array, options: Options) => Promise<ModelSession>;

/**
 * Loads a model on the first provider of the plan that accepts it, and reports which: the CPU in this process, other
 * providers in the device process. If that provider fails during a run, the model continues on the CPU with the same
 * input. Rejects if even the CPU cannot load it. Blocks, so it must be called in a worker thread.
 */
export async function openModelSession(
  model: ExecutedModel,
  file: string | Uint8Array,
  options: Options,
  create: CreateSession = createHereOrThere,
): Promise<ModelSession> {
  const failed: ExecutionReport['failed'][number][] = [];
  for (const provider of providersFor(model, typeof file === 'string' ? file : undefined)) {
    if (provider === 'cpu') break;
    try {
      const session = await create(provider, file, options);
      reportExecution({ model, provider, failed });
      return withSpare(session, async (why) => {
        const spare = await create('cpu', file, options);
        reportExecution({ model, provider: 'cpu', failed: [{ provider, why }] });
        return spare;
      });
    } catch (fault) {
      failed.push({ provider, why: lineOf(fault) });
    }
  }
  const session = await create('cpu', file, options);
  reportExecution({ model, provider: 'cpu', failed });
  return session;
}

function createHereOrThere(provider: Provider, file: string | Uint8Array, options: Options): Promise<ModelSession> {
  const device = plannedDevice();
  if (provider !== 'cpu' && device !== undefined) return openOnDevice(device, { provider, file, options });
  return InferenceSession.create(file as string, { ...options, executionProviders: [provider] });
}

/** Wraps a session so that another takes over when a run fails; if the run fails there too, the input is at fault. */
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
