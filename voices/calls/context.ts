import type { z } from 'zod';
import type { EngineUpkeep } from '../engine.ts';
import { openCalls, type CallCost, type Calls } from './calls.ts';
import { fullCare, type Care, type Timeouts } from './call-policy.ts';

/** What the settings of an engine are called where the user wrote them, for messages that say what to mend. */
export interface SettingNames {
  readonly baseUrl: string;
  readonly model: string;
  readonly key: string;
}

/** What an adapter is opened with, beside its own settings. */
export interface EngineContext {
  /** As the user calls it. */
  readonly name: string;
  /** The secret, where the user gave one. Never to be logged, nor put into an error. */
  readonly key?: string | undefined;
  readonly settingNames: SettingNames;
  readonly timeouts: Timeouts;
  readonly calls: Calls;
}

/** How one kind of engine is opened; every adapter's file exports one as `adapter`. */
export interface Adapter<Engine, Settings = unknown> {
  /** What the engines file may say about it, besides `kind`, `apiKeyEnv` and what `careSchema` lists. */
  readonly settings: z.ZodType<Settings>;
  /** How this kind of engine wants to be called, unless the user says otherwise. */
  care?(settings: Settings): Care;
  /** Whether it can speak with the voice of a clip. */
  clones?(settings: Settings): boolean;
  /** Does no work yet: nothing is connected or loaded before the first call, or `warm`. */
  open(settings: Settings, context: EngineContext): Engine & EngineUpkeep;
}

/** The kinds of one sort of engine, by their names in the engines file. */
export type Kinds<Engine> = Readonly<Record<string, () => Promise<{ readonly adapter: Adapter<Engine> }>>>;

export interface ContextOptions {
  readonly key?: string | undefined;
  /** What the user wants, then what the adapter knows. */
  readonly care?: readonly (Care | undefined)[];
  readonly settingNames?: Partial<SettingNames> | undefined;
  /** Gets the cost of each call. */
  readonly log?: ((cost: CallCost) => void) | undefined;
  /** False where whoever calls asks the circuit itself. */
  readonly gated?: boolean;
}

/** The context of the engine that the user calls `name`. */
export function openContext(name: string, options: ContextOptions = {}): EngineContext {
  const care = fullCare(...(options.care ?? []));
  return {
    name,
    key: options.key === '' ? undefined : options.key,
    settingNames: {
      baseUrl: `"baseUrl" of the engine "${name}"`,
      model: `"model" of the engine "${name}"`,
      key: `the variable that "apiKeyEnv" of the engine "${name}" names`,
      ...options.settingNames,
    },
    timeouts: care.timeouts,
    calls: openCalls(name, care, { log: options.log, gated: options.gated }),
  };
}
