import { BroadcastChannel, workerData } from 'node:worker_threads';
import { carriedFault } from '../runtime/carried-fault.ts';
import { openProcess } from '../runtime/process.ts';
import type { WorkerReply } from '../runtime/worker-pool.ts';
import { EngineError } from '../engine.ts';
import type { Provider } from './execution.ts';
import type { BrokerData, Envelope } from './device.ts';
import type { DeviceAnswer, DeviceRequest } from './device-sessions.ts';

/** Timeout of a request; must also cover the first run, in which shaders are compiled and kernels chosen. */
const patienceMs = 60_000;

const { name, ready, gpuMemoryMb } = workerData as BrokerData;
const device = openProcess<DeviceRequest, DeviceAnswer>({
  name: 'device',
  url: new URL('./device-worker.ts', import.meta.url),
  data: { gpuMemoryMb },
  // A driver that hangs never lets its process end by itself.
  patienceMs: 1_000,
});
const answers = new Map<string, BroadcastChannel>();
/** Providers under which loading a model ended the process, and why: a retry would take all other models down again. */
const fatal = new Map<Provider, string>();

const requests = new BroadcastChannel(name);
requests.onmessage = (event: unknown) => void pass((event as { readonly data: Envelope }).data);
Atomics.store(ready, 0, 1);
Atomics.notify(ready, 0);

async function pass({ from, id, request }: Envelope): Promise<void> {
  const channel = answers.get(from) ?? new BroadcastChannel(from);
  answers.set(from, channel);
  const outcome = await answerTo(request).then(
    (reply) => ({ reply }),
    (fault: unknown) => ({ error: carriedFault(fault) }),
  );
  channel.postMessage({ id, ...outcome } satisfies WorkerReply<DeviceAnswer>);
}

async function answerTo(request: DeviceRequest): Promise<DeviceAnswer> {
  const provider = 'open' in request ? request.open.provider : undefined;
  const before = provider && fatal.get(provider);
  if (before !== undefined) throw new Error(before);
  const signal = AbortSignal.timeout(patienceMs);
  try {
    return await device.once(request, { signal });
  } catch (fault) {
    const words = fault instanceof EngineError ? fault.detail : String(fault);
    const why = signal.aborted ? `no response in ${patienceMs / 1000} s` : words.replace(/; the next call .*/, '');
    const ended = !(fault instanceof EngineError && fault.code === 'ENGINE_BAD_REPLY');
    if (provider !== undefined && ended) fatal.set(provider, why);
    throw new Error(why, { cause: fault });
  }
}
