import { BroadcastChannel, workerData } from 'node:worker_threads';
import { openProcess } from '../calls/process.ts';
import { EngineError } from '../engine.ts';
import type { BrokerData, Envelope, Reply } from './device.ts';
import type { DeviceAnswer, DeviceRequest } from './device-sessions.ts';

/** Of the first run, too, in which shaders are compiled and kernels chosen. */
const patienceMs = 60_000;

const { name, ready, gpuMemoryMb } = workerData as BrokerData;
const device = openProcess<DeviceRequest, DeviceAnswer>({
  name: 'device',
  url: new URL('./device-worker.ts', import.meta.url),
  data: { gpuMemoryMb },
  // A driver that hangs keeps its process for good.
  patienceMs: 1_000,
});
const answers = new Map<string, BroadcastChannel>();

const requests = new BroadcastChannel(name);
requests.onmessage = (event: unknown) => void pass((event as { readonly data: Envelope }).data);
Atomics.store(ready, 0, 1);
Atomics.notify(ready, 0);

async function pass({ from, id, request }: Envelope): Promise<void> {
  const channel = answers.get(from) ?? new BroadcastChannel(from);
  answers.set(from, channel);
  const signal = AbortSignal.timeout(patienceMs);
  const reply = await device.once(request, { signal }).then(
    (answer): Reply => ({ id, answer }),
    (fault: unknown): Reply => ({ id, why: signal.aborted ? `no answer in ${patienceMs / 1000} s` : wordsOf(fault) }),
  );
  channel.postMessage(reply);
}

function wordsOf(fault: unknown): string {
  return fault instanceof EngineError ? fault.detail : String(fault);
}
