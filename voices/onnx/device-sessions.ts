import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { Tensor, type InferenceSession, type OnnxValue } from 'onnxruntime-node';
import type { Provider } from './execution.ts';
import { firstLineOf } from './first-line.ts';

/** A tensor as plain data, without methods. */
export interface PlainTensor {
  readonly type: string;
  readonly data: unknown;
  readonly dims: readonly number[];
}

type Named = readonly (readonly [string, PlainTensor])[];

/** A model to load. */
export interface LoadRequest {
  readonly provider: Provider;
  readonly file: string | Uint8Array;
  readonly options: Omit<InferenceSession.SessionOptions, 'executionProviders'>;
}

export type DeviceRequest =
  | { readonly open: LoadRequest }
  | { readonly run: string; readonly feeds: Named; readonly fetches?: readonly string[] };

export type DeviceAnswer =
  | ({ readonly session: string } & Pick<InferenceSession, 'inputNames' | 'outputNames' | 'inputMetadata'>)
  | { readonly outputs: Named };

type Session = Pick<InferenceSession, 'run' | 'release' | 'inputNames' | 'outputNames' | 'inputMetadata'>;

/** Creates a session; tests inject their own. */
export type CreateOnDevice = (file: string | Uint8Array, options: InferenceSession.SessionOptions) => Promise<Session>;

/** Models loaded on a device. Requests for the same file with the same options share a session. */
export interface DeviceSessions {
  open(order: LoadRequest): Promise<DeviceAnswer>;
  run(request: Extract<DeviceRequest, { run: string }>): Promise<DeviceAnswer>;
}

/** Estimated memory per byte of weights; the runtime can neither report nor limit it (onnxruntime #23176). */
const timesWeights = 2;

interface Held {
  readonly megabytes: number;
  readonly session: Promise<Session>;
}

/** `capMb` limits twice the size of all weights. A model that failed once is not tried again: both methods reject. */
export function openDeviceSessions(create: CreateOnDevice, capMb: number | undefined): DeviceSessions {
  const held = new Map<string, Held>();
  const failed = new Map<string, string>();
  const drop = (key: string, fault: unknown): never => {
    const why = failed.get(key) ?? firstLineOf(fault);
    failed.set(key, why);
    const known = held.get(key);
    held.delete(key);
    known?.session.then((session) => session.release()).catch(() => undefined);
    throw new Error(why);
  };
  const load = ({ provider, file, options }: LoadRequest, key: string, megabytes: number): Held => {
    const used = [...held.values()].reduce((sum, each) => sum + each.megabytes, 0);
    if (capMb !== undefined && used + megabytes > capMb) {
      throw new Error(`over the limit of device memory (DRAMATIS_GPU_MEMORY_MB), needs ${megabytes} MB`);
    }
    const loading = { megabytes, session: create(file, { ...options, executionProviders: [provider] }) };
    held.set(key, loading);
    return loading;
  };
  return {
    async open(order) {
      const { size, key } = await identify(order);
      const before = failed.get(key);
      if (before !== undefined) throw new Error(before);
      const { session } = held.get(key) ?? load(order, key, Math.ceil((timesWeights * size) / 1e6));
      const { inputNames, outputNames, inputMetadata } = await session.catch((fault: unknown) => drop(key, fault));
      return { session: key, inputNames, outputNames, inputMetadata };
    },
    async run({ run: key, feeds, fetches }) {
      const session = await held.get(key)?.session;
      if (session === undefined) throw new Error(failed.get(key) ?? 'its process has ended');
      const given = Object.fromEntries(feeds.map(([name, each]) => [name, tensorOf(each)]));
      const made = await (fetches === undefined ? session.run(given) : session.run(given, [...fetches])).catch(
        (fault: unknown) => drop(key, fault),
      );
      return { outputs: Object.entries(made).map(([name, value]) => [name, plainOf(value)] as const) };
    },
  };
}

/** Converts to the runtime's tensor. */
export function tensorOf({ type, data, dims }: PlainTensor): Tensor {
  return new Tensor(type as 'float32', data as Float32Array, dims);
}

function plainOf(value: OnnxValue): PlainTensor {
  const { type, data, dims } = value as PlainTensor;
  return { type, data, dims };
}

/** Key that identifies a loaded model, and the size of its file in bytes. */
async function identify({
  provider,
  file,
  options,
}: LoadRequest): Promise<{ readonly size: number; readonly key: string }> {
  const hash = createHash('sha256').update(JSON.stringify([provider, options]));
  if (typeof file !== 'string') return { size: file.length, key: hash.update(file).digest('hex') };
  const { size, mtimeMs } = await stat(file);
  return { size, key: hash.update(JSON.stringify([file, size, mtimeMs])).digest('hex') };
}
