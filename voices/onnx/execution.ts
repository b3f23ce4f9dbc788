import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { BroadcastChannel, getEnvironmentData, setEnvironmentData } from 'node:worker_threads';
import { startDevice, type DeviceLine } from './device.ts';

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
  /** Where nothing else is said: what has proven itself for a file, by its absolute path. */
  readonly proven?: Readonly<Record<string, readonly Provider[]>>;
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
  readonly device: DeviceLine | undefined;
}

/** Makes the plan that of all model threads of this process that start from now on. The same plan again keeps its device. */
export function planExecution(plan: ExecutionPlan): void {
  const { device: _device, ...current } = sharedPlan() ?? {};
  if (isDeepStrictEqual(current, plan)) return;
  const wanted = [plan.order, ...Object.values(plan.models), ...Object.values(plan.proven ?? {})]
    .flat()
    .some((provider) => provider !== 'cpu');
  const device = wanted ? startDevice(plan.gpuMemoryMb) : undefined;
  setEnvironmentData(planKey, { ...plan, device } satisfies SharedPlan);
}

/** How to reach the device of the plan; undefined where the plan has none. */
export function plannedDevice(): DeviceLine | undefined {
  return sharedPlan()?.device;
}

/** What a thread tries for a model, and for a file of it; the processor is the last. */
export function providersFor(model: ExecutedModel, file?: string): readonly Provider[] {
  const plan = sharedPlan();
  const proven = file === undefined ? undefined : plan?.proven?.[path.resolve(file)];
  const wanted = plan?.models[model] ?? proven ?? plan?.order ?? [];
  // What comes after the processor is never reached.
  const end = wanted.indexOf('cpu');
  return [...(end === -1 ? wanted : wanted.slice(0, end)), 'cpu'];
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
