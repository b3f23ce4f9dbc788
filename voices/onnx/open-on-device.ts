import { BroadcastChannel, threadId } from 'node:worker_threads';
import type { InferenceSession, Tensor } from 'onnxruntime-node';
import type { DeviceLine, Envelope, Reply } from './device.ts';
import { tensorOf, type DeviceAnswer, type DeviceOrder, type DeviceRequest } from './device-sessions.ts';

type Session = Pick<InferenceSession, 'run' | 'inputNames' | 'outputNames' | 'inputMetadata'>;

/** Loads a model on the device. Rejects with a message for the user if that fails; so does a failing run. */
export async function openOnDevice(line: DeviceLine, order: DeviceOrder): Promise<Session> {
  const opened = await ask(line, { open: order });
  if (!('session' in opened)) throw new Error('the device gave no session');
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

async function ask({ name, ready }: DeviceLine, request: DeviceRequest): Promise<DeviceAnswer> {
  answers ??= hear();
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

function hear(): BroadcastChannel {
  const channel = new BroadcastChannel(from);
  channel.onmessage = (event: unknown) => {
    const { id, answer, why } = (event as { readonly data: Reply }).data;
    const waits = waiting.get(id);
    waiting.delete(id);
    if (waiting.size === 0) channel.unref();
    if (answer === undefined) waits?.reject(new Error(why));
    else waits?.resolve(answer);
  };
  return channel;
}
