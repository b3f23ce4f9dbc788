import {
  executedModels,
  planExecution,
  providers,
  type ExecutedModel,
  type Provider,
} from '../../voices/onnx/execution.ts';
import type { Config } from '../config/config.ts';
import { openProviderResults } from './provider-results.ts';

/** Settings that determine how local models are executed. */
export type ExecutionSettings = Partial<Pick<Config, 'providers' | 'gpuMemoryMb' | 'dataDir'>>;

/**
 * Sets the execution providers for models loaded from now on. Without a setting, uses the providers that passed the
 * trials of each model on this machine (see `server/gpu/proofs.ts`).
 */
export function applyExecution({ providers: entries, gpuMemoryMb, dataDir }: ExecutionSettings): void {
  const pairs = (entries ?? [])
    .filter((entry) => entry.includes('='))
    .map((entry) => entry.split('=', 2) as [string, string]);
  planExecution({
    order: (entries ?? []).filter(isProvider),
    models: Object.fromEntries(
      pairs.filter(([model]) => isModel(model)).map(([model, order]) => [model, order.split('+').filter(isProvider)]),
    ),
    proven: entries === undefined && dataDir !== undefined ? openProviderResults(dataDir).proven : {},
    gpuMemoryMb,
  });
}

function isProvider(name: string): name is Provider {
  return (providers as readonly string[]).includes(name);
}

function isModel(name: string): name is ExecutedModel {
  return (executedModels as readonly string[]).includes(name);
}
