import type { z } from 'zod';
import type { EngineLifecycle } from '../engine.ts';
import { openCalls, type CallCost, type Calls } from './calls.ts';
import type { CallPolicy, ResolvedCallPolicy, Timeouts } from './call-policy.ts';

/** Names of an engine's settings as the user wrote them, for error messages that say what to fix. */
export interface SettingNames {
  readonly baseUrl: string;
  readonly model: string;
  readonly key: string;
}

/** Context that an adapter is opened with, besides its own settings. */
export interface EngineContext {
  /** Name that the user gave the engine. */
  readonly name: string;
  /** API key, if the user provided one. Must never be logged or put into an error. */
  readonly key?: string | undefined;
  readonly settingNames: SettingNames;
  readonly timeouts: Timeouts;
  readonly calls: Calls;
}

/** How to open one kind of engine; every adapter's file exports one as `adapter`. */
export interface Adapter<Engine, Settings = unknown> {
  /** Schema of its settings in the engines file, besides `kind`, `apiKeyEnv` and the fields of `callPolicySchema`. */
  readonly settings: z.ZodType<Settings>;
  /** Default call policy of this kind of engine; the user's settings override it. */
  callPolicy?(settings: Settings): CallPolicy;
  /** True if it can clone a voice from a clip. */
  clones?(settings: Settings): boolean;
  /** Opens the engine without doing any work: nothing is connected or loaded before the first call, or `warm`. */
  open(settings: Settings, context: EngineContext): Engine & EngineLifecycle;
}

/** Adapters of one type of engine, by their `kind` in the engines file. */
export type AdaptersByKind<Engine> = Readonly<Record<string, () => Promise<{ readonly adapter: Adapter<Engine> }>>>;

export interface ContextOptions {
  readonly key?: string | undefined;
  /** Call policies: the user's, then the adapter's. */
  readonly callPolicy?: readonly (CallPolicy | undefined)[];
  readonly settingNames?: Partial<SettingNames> | undefined;
  /** Receives the cost of each call. */
  readonly log?: ((cost: CallCost) => void) | undefined;
  /** False if the caller consults the circuit breaker itself. */
  readonly gated?: boolean;
}

/** Creates the context of the engine that the user calls `name`. */
export function openContext(name: string, options: ContextOptions = {}): EngineContext {
  const policy = resolveCallPolicy(...(options.callPolicy ?? []));
  return {
    name,
    key: options.key === '' ? undefined : options.key,
    settingNames: {
      baseUrl: `"baseUrl" of the engine "${name}"`,
      model: `"model" of the engine "${name}"`,
      key: `the variable named by "apiKeyEnv" of the engine "${name}"`,
      ...options.settingNames,
    },
    timeouts: policy.timeouts,
    calls: openCalls(name, policy, { log: options.log, gated: options.gated }),
  };
}

const defaultCallPolicy: ResolvedCallPolicy = {
  timeouts: { queueMs: 10_000, connectMs: 5_000, firstByteMs: 20_000, betweenBytesMs: 15_000, wholeMs: 180_000 },
  concurrency: 8,
  retries: 1,
  failureCount: 2,
  restMs: 30_000,
  graceMs: 0,
};

/** Merges call policies; the first that sets a value wins: the user's, then the adapter's, then the defaults. */
export function resolveCallPolicy(...wishes: readonly (CallPolicy | undefined)[]): ResolvedCallPolicy {
  const merged: Record<string, unknown> = { ...defaultCallPolicy };
  const timeouts: Record<string, number> = { ...defaultCallPolicy.timeouts };
  for (const wish of wishes.toReversed()) {
    for (const [name, value] of Object.entries(wish ?? {})) if (value !== undefined) merged[name] = value;
    for (const [stage, value] of Object.entries(wish?.timeouts ?? {})) if (value !== undefined) timeouts[stage] = value;
  }
  return { ...merged, timeouts } as unknown as ResolvedCallPolicy;
}
