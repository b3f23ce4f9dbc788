import { InferenceSession, type Tensor } from 'onnxruntime-node';
import { firstLineOf } from './first-line.ts';
import {
  plannedDevice,
  providersFor,
  reportExecution,
  type ExecutedModel,
  type ExecutionReport,
  type Provider,
} from './execution.ts';
import { BroadcastChannel, threadId } from 'node:worker_threads';
import type { WorkerReply } from '../runtime/worker-pool.ts';
import type { DeviceChannel, Envelope } from './device.ts';
import { tensorOf, type DeviceAnswer, type LoadRequest, type DeviceRequest } from './device-sessions.ts';

/** A loaded model on any execution provider. */
export type ModelSession = Pick<InferenceSession, 'run' | 'inputNames' | 'outputNames' | 'inputMetadata'>;

type Options = Omit<InferenceSession.SessionOptions, 'executionProviders'>;
/** Options of a model on one CPU thread. */
export const oneThread = {
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  executionMode: 'sequential',
  graphOptimizationLevel: 'all',
} as const;

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
      failed.push({ provider, why: firstLineOf(fault) });
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
      spare ??= takeOver(firstLineOf(fault));
      return (await spare).run(...call);
    }
  };
  return { inputNames, outputNames, inputMetadata, run };
}

/** Loads a model on the device. Rejects with a message for the user if that fails; so does a failing run. */
async function openOnDevice(line: DeviceChannel, order: LoadRequest): Promise<ModelSession> {
  const opened = await ask(line, { open: order });
  if (!('session' in opened)) throw new Error('the device returned no session');
  const { session, inputNames, outputNames, inputMetadata } = opened;
  const run = async (feeds: Readonly<Record<string, Tensor>>, fetches?: unknown): Promise<Record<string, Tensor>> => {
    const plain = Object.entries(feeds).map(([name, { type, data, dims }]) => [name, { type, data, dims }] as const);
    const request = { run: session, feeds: plain, ...(Array.isArray(fetches) && { fetches: fetches as string[] }) };
    const made = await ask(line, request);
    return Object.fromEntries(('outputs' in made ? made.outputs : []).map(([name, each]) => [name, tensorOf(each)]));
  };
  return { inputNames, outputNames, inputMetadata, run };
}

const from = `dramatis answers ${threadId}`;

const waiting = new Map<number, PromiseWithResolvers<DeviceAnswer>>();

let answers: BroadcastChannel | undefined;

let asked = 0;

async function ask({ name, ready }: DeviceChannel, request: DeviceRequest): Promise<DeviceAnswer> {
  answers ??= openAnswers();
  asked += 1;
  const id = asked;
  const answer = Promise.withResolvers<DeviceAnswer>();
  waiting.set(id, answer);
  // Keeps the thread alive while it waits only for the device.
  answers.ref();
  await Atomics.waitAsync(ready, 0, 0).value;
  const channel = new BroadcastChannel(name);
  channel.postMessage({ from, id, request } satisfies Envelope);
  channel.close();
  return answer.promise;
}

function openAnswers(): BroadcastChannel {
  const channel = new BroadcastChannel(from);
  channel.onmessage = (event: unknown) => {
    const { data } = event as { readonly data: WorkerReply<DeviceAnswer> };
    const waits = waiting.get(data.id);
    waiting.delete(data.id);
    if (waiting.size === 0) channel.unref();
    if ('error' in data) waits?.reject(new Error(data.error.detail));
    else waits?.resolve(data.reply);
  };
  return channel;
}
