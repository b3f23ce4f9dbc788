import { threadId, Worker } from 'node:worker_threads';
import type { WorkerRequest } from '../runtime/worker-pool.ts';
import type { DeviceRequest } from './device-sessions.ts';

/** Connection from the threads of a process to the device broker that runs models on the GPU. */
export interface DeviceChannel {
  readonly name: string;
  /** Becomes 1 as soon as the broker is listening. */
  readonly ready: Int32Array<SharedArrayBuffer>;
}

/** Worker data of the broker. */
export interface BrokerData extends DeviceChannel {
  readonly gpuMemoryMb: number | undefined;
}

/** A request on its way to the broker; the reply goes to the channel `from`. */
export interface Envelope extends WorkerRequest<DeviceRequest> {
  readonly from: string;
}

let lines = 0;

/**
 * Starts the broker, a thread that forwards the requests of all model threads to one process. One process, because the
 * runtime's WebGPU breaks if two threads run models at the same time (onnxruntime #32561), and because a crashing
 * driver then takes nothing else down; a thread, so that tensors do not pass through the server's event loop. The
 * process starts with the first model.
 */
export function startDevice(gpuMemoryMb: number | undefined): DeviceChannel {
  lines += 1;
  const line = { name: `dramatis device ${threadId}.${lines}`, ready: new Int32Array(new SharedArrayBuffer(4)) };
  const workerData: BrokerData = { ...line, gpuMemoryMb };
  new Worker(new URL('./broker-worker.ts', import.meta.url), { workerData, name: 'device broker' }).unref();
  return line;
}
