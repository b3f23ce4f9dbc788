import type { ExecutedModel, Provider } from '../../voices/onnx/execution.ts';
import type { Config } from '../config/config.ts';
import { candidateProviders, thisMachine, type Machine } from '../engines/gpu-detection.ts';
import { openProviderResults } from '../engines/provider-results.ts';
import { findingOf, trialsOf, runTrial, type GpuFinding, type Trial } from './trials.ts';

/**
 * Models that may gain from a GPU. A Silero window takes 0.1 ms on a CPU, less than a GPU dispatch. Moonshine's matrix
 * products are all 8-bit, which WebGPU does not support: each would be copied to the CPU and back.
 */
const following: readonly ExecutedModel[] = ['smart-turn', 'dnsmos', 'speakers'];

export interface ProveOptions {
  readonly signal: AbortSignal;
  /** Called once per model: what runs it from the next start on, or why it stays on the CPU. */
  readonly tell: (level: 'info' | 'warn', text: string) => void;
  readonly machine?: Machine;
  readonly tryModel?: typeof runTrial;
}

/** Decides if a provider is used by default: it must give the CPU's results, and faster. */
export function isWorthwhile({ ok, medianMs }: GpuFinding, base: GpuFinding): boolean {
  return ok && medianMs !== null && base.medianMs !== null && medianMs < base.medianMs;
}

/** Returns true if models of this kind move to a provider that passes the trial. */
export function follows(trial: Trial): boolean {
  return following.includes(trial.model);
}

/**
 * Finds out, in separate processes, which providers serve each untried model, unless the user chose them or there is no
 * GPU. Takes up to minutes: do not await it before serving. Results apply to models loaded afterwards.
 */
export async function selectProviders(config: Config, options: ProveOptions): Promise<void> {
  const { signal, machine = thisMachine, tryModel = runTrial } = options;
  const candidates = candidateProviders(machine);
  if (config.providers !== undefined || candidates.length === 0) return;
  const proofs = openProviderResults(config.dataDir, machine);
  for (const trial of trialsOf(config).filter(follows)) {
    const open = candidates.filter((provider) => !proofs.knows(trial.file, provider));
    if (open.length === 0) continue;
    // Recorded as failed before the trial, so that a driver which crashes the machine is not tried again.
    for (const provider of open) proofs.note(trial.file, provider, false);
    try {
      const base = await tryModel(trial, 'cpu', signal);
      const onProcessor = findingOf(trial.title, 'cpu', base, base);
      const found: GpuFinding[] = [];
      for (const provider of open) {
        const finding = findingOf(trial.title, provider, await tryModel(trial, provider, signal), base);
        proofs.note(trial.file, provider, isWorthwhile(finding, onProcessor));
        found.push(finding);
      }
      options.tell(...verdict(trial.title, found, proofs.proven[trial.file] ?? []));
    } catch (fault) {
      for (const provider of open) proofs.forget(trial.file, provider);
      if (signal.aborted) return;
      throw fault;
    }
  }
}

function verdict(
  title: string,
  found: readonly GpuFinding[],
  [best]: readonly Provider[],
): Parameters<ProveOptions['tell']> {
  const why = found.map(({ provider, says }) => `${provider}: ${says}`).join('; ');
  return best === undefined
    ? ['warn', `${title} stays on the CPU (${why}). Once that is fixed, run \`dramatis doctor --gpu\` to test again.`]
    : ['info', `${title} will run on ${best} after the next start (${why}). \`--providers cpu\` keeps it on the CPU.`];
}
