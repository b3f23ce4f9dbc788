import { threadId, Worker } from 'node:worker_threads';
import type { DeviceAnswer, DeviceRequest } from './device-sessions.ts';

/** How the threads of a process reach what runs models on its GPU. */
export interface DeviceLine {
  readonly name: string;
  /** 1 as soon as somebody listens. */
  readonly ready: Int32Array<SharedArrayBuffer>;
}

/** What the broker is started with. */
export interface BrokerData extends DeviceLine {
  readonly gpuMemoryMb: number | undefined;
}

/** A request on its way to the broker; the answer goes to the channel `from`. */
export interface Envelope {
  readonly from: string;
  readonly id: number;
  readonly request: DeviceRequest;
}

export interface Reply {
  readonly id: number;
  readonly answer?: DeviceAnswer;
  readonly why?: string;
}

let lines = 0;

/**
 * Starts the broker, a thread that passes what all model threads ask for on to one process. In one process, because
 * the runtime's WebGPU breaks where two threads run models at a time (onnxruntime #32561), and because a driver that crashes then takes
 * nobody along; in a thread, so that tensors do not pass through the event loop of the server. The process starts with the first model.
 */
export function startDevice(gpuMemoryMb: number | undefined): DeviceLine {
  lines += 1;
  const line = { name: `dramatis device ${threadId}.${lines}`, ready: new Int32Array(new SharedArrayBuffer(4)) };
  const workerData: BrokerData = { ...line, gpuMemoryMb };
  new Worker(new URL('./broker-worker.ts', import.meta.url), { workerData, name: 'device broker' }).unref();
  return line;
}
