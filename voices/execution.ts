import { isDeepStrictEqual } from 'node:util';
import { BroadcastChannel, getEnvironmentData, setEnvironmentData } from 'node:worker_threads';

/** What runs models, the usual order. `webgpu` is in the npm package; `cuda` is installed apart (README). */
export const providers = ['cuda', 'webgpu', 'cpu'] as const;
export type Provider = (typeof providers)[number];

/** The models that run on one. */
export const executedModels = ['silero', 'moonshine', 'smart-turn', 'dnsmos', 'speakers'] as const;
export type ExecutedModel = (typeof executedModels)[number];

/** Which providers are tried, in which order; the processor stands behind them all. */
export interface ExecutionPlan {
  readonly order: readonly Provider[];
  /** Where a model has an order of its own. */
  readonly models: Readonly<Partial<Record<ExecutedModel, readonly Provider[]>>>;
  /** Of the device, for all models together. */
  readonly gpuMemoryMb?: number | undefined;
}

/** What a thread tells of a model that it loaded. */
export interface ExecutionReport {
  readonly model: ExecutedModel;
  readonly provider: Provider;
  /** Providers before it, and why they do not serve. */
  readonly failed: readonly { readonly provider: Provider; readonly why: string }[];
}

const planKey = 'dramatis execution plan';
const channelName = 'dramatis execution';

interface SharedPlan extends ExecutionPlan {
  /** Megabytes of the device that are given away, for all threads. */
  readonly usedMb: Int32Array<SharedArrayBuffer>;
}

/** Makes the plan that of all model threads of this process that start from now on. The same plan again keeps its books. */
export function planExecution(plan: ExecutionPlan): void {
  const { usedMb: _usedMb, ...current } = sharedPlan() ?? {};
  if (isDeepStrictEqual(current, plan)) return;
  setEnvironmentData(planKey, { ...plan, usedMb: new Int32Array(new SharedArrayBuffer(4)) } satisfies SharedPlan);
}

/** What a thread tries for a model; the processor is the last. */
export function providersFor(model: ExecutedModel): readonly Provider[] {
  const plan = sharedPlan();
  const wanted = plan?.models[model] ?? plan?.order ?? [];
  // What comes after the processor is never reached.
  const end = wanted.indexOf('cpu');
  return [...(end === -1 ? wanted : wanted.slice(0, end)), 'cpu'];
}

/** Takes memory of the device, where the plan's cap leaves so much. The only measure there is beforehand is the weights' size. */
export function takeDeviceMemory(megabytes: number): boolean {
  const plan = sharedPlan();
  if (plan?.gpuMemoryMb === undefined) return true;
  const used = Atomics.add(plan.usedMb, 0, megabytes) + megabytes;
  if (used <= plan.gpuMemoryMb) return true;
  giveBackDeviceMemory(megabytes);
  return false;
}

/** Gives back what `takeDeviceMemory` took. */
export function giveBackDeviceMemory(megabytes: number): void {
  const plan = sharedPlan();
  if (plan?.gpuMemoryMb !== undefined) Atomics.sub(plan.usedMb, 0, megabytes);
}

function sharedPlan(): SharedPlan | undefined {
  return getEnvironmentData(planKey) as SharedPlan | undefined;
}

/** Tells the process which provider serves a model. */
export function reportExecution(report: ExecutionReport): void {
  const channel = new BroadcastChannel(channelName);
  channel.postMessage(report);
  channel.close();
}

/** Hears what the threads of this process tell. */
export interface ExecutionWatch {
  /** The provider of each model that is loaded. */
  readonly serving: ReadonlyMap<ExecutedModel, Provider>;
  close(): void;
}

/** `onReport` is called for every model that is loaded, or falls back. */
export function watchExecution(onReport?: (report: ExecutionReport) => void): ExecutionWatch {
  const serving = new Map<ExecutedModel, Provider>();
  const channel = new BroadcastChannel(channelName);
  channel.onmessage = (event: unknown) => {
    const { data } = event as { readonly data: ExecutionReport };
    serving.set(data.model, data.provider);
    onReport?.(data);
  };
  channel.unref();
  return { serving, close: () => channel.close() };
}
