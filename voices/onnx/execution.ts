import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { BroadcastChannel, getEnvironmentData, setEnvironmentData } from 'node:worker_threads';
import { startDevice, type DeviceChannel } from './device.ts';

/** In the usual order. `webgpu` is part of the npm package; `cuda` is installed separately (see the README). */
export const providers = ['cuda', 'webgpu', 'cpu'] as const;
export type Provider = (typeof providers)[number];

/** The models that run on an execution provider. */
export const executedModels = ['silero', 'moonshine', 'smart-turn', 'dnsmos', 'speakers'] as const;
export type ExecutedModel = (typeof executedModels)[number];

/** Execution providers to try, in order; the CPU is always the last fallback. */
export interface ExecutionPlan {
  readonly order: readonly Provider[];
  /** Per-model order, which overrides `order`. */
  readonly models: Readonly<Partial<Record<ExecutedModel, readonly Provider[]>>>;
  /** Orders known to work for a model file, by its absolute path; used if `models` has no entry. */
  readonly proven?: Readonly<Record<string, readonly Provider[]>>;
  /** Limit of device memory for all models together. */
  readonly gpuMemoryMb?: number | undefined;
}

/** Reported by a thread when it has loaded a model. */
export interface ExecutionReport {
  readonly model: ExecutedModel;
  readonly provider: Provider;
  /** Providers tried before, and why each failed. */
  readonly failed: readonly { readonly provider: Provider; readonly why: string }[];
}

const planKey = 'dramatis execution plan';
const channelName = 'dramatis execution';

interface SharedPlan extends ExecutionPlan {
  readonly device: DeviceChannel | undefined;
}

/** Sets the plan for model threads started from now on; setting an equal plan again keeps its device. */
export function planExecution(plan: ExecutionPlan): void {
  const { device: _device, ...current } = sharedPlan() ?? {};
  if (isDeepStrictEqual(current, plan)) return;
  const wanted = [plan.order, ...Object.values(plan.models), ...Object.values(plan.proven ?? {})]
    .flat()
    .some((provider) => provider !== 'cpu');
  const device = wanted ? startDevice(plan.gpuMemoryMb) : undefined;
  setEnvironmentData(planKey, { ...plan, device } satisfies SharedPlan);
}

/** Connection to the device of the plan; undefined if the plan has none. */
export function plannedDevice(): DeviceChannel | undefined {
  return sharedPlan()?.device;
}

/** Providers that a thread tries for a model and its file; the last is always the CPU. */
export function providersFor(model: ExecutedModel, file?: string): readonly Provider[] {
  const plan = sharedPlan();
  const proven = file === undefined ? undefined : plan?.proven?.[path.resolve(file)];
  const wanted = plan?.models[model] ?? proven ?? plan?.order ?? [];
  // Providers listed after the CPU are never reached.
  const end = wanted.indexOf('cpu');
  return [...(end === -1 ? wanted : wanted.slice(0, end)), 'cpu'];
}

function sharedPlan(): SharedPlan | undefined {
  return getEnvironmentData(planKey) as SharedPlan | undefined;
}

/** Reports to the process which provider serves a model. */
export function reportExecution(report: ExecutionReport): void {
  const channel = new BroadcastChannel(channelName);
  channel.postMessage(report);
  channel.close();
}

/** Collects the execution reports of all threads of this process. */
export interface ExecutionWatch {
  /** Provider of each loaded model. */
  readonly serving: ReadonlyMap<ExecutedModel, Provider>;
  close(): void;
}

/** Starts watching; `onReport` is called for every model that is loaded or falls back. */
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
