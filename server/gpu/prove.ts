import type { ExecutedModel, Provider } from '../../voices/onnx/execution.ts';
import type { Config } from '../config/config.ts';
import { candidateProviders, thisMachine, type Machine } from '../engines/gpu-present.ts';
import { openProofs } from '../engines/gpu-proofs.ts';
import { findingOf, trialsOf, tryOut, type GpuFinding, type Trial } from './trials.ts';

/**
 * Those that a GPU may gain something for. A window of Silero takes 0.1 ms on a processor, less than a device needs to be asked. All
 * products of Moonshine are of 8 bits, which WebGPU does not multiply: each is copied to the processor and back.
 */
const following: readonly ExecutedModel[] = ['smart-turn', 'dnsmos', 'speakers'];

export interface ProveOptions {
  readonly signal: AbortSignal;
  /** Once for each model: what runs it from the next start on, or why the processor still does. */
  readonly tell: (level: 'info' | 'warn', text: string) => void;
  readonly machine?: Machine;
  readonly tryModel?: typeof tryOut;
}

/** Whether a provider is used without being asked for: it must give the processor's results, and sooner. */
export function isWorthwhile({ ok, medianMs }: GpuFinding, base: GpuFinding): boolean {
  return ok && medianMs !== null && base.medianMs !== null && medianMs < base.medianMs;
}

/** Whether models of this kind move to a provider that proves itself. */
export function follows(trial: Trial): boolean {
  return following.includes(trial.model);
}

/**
 * Where the user left the choice to us and there may be a GPU: finds out, in processes of their own, which providers serve each model that
 * was not tried here before. Takes seconds to minutes and is not to be waited for; it is kept in the data folder and holds for
 * models that are loaded afterwards. Stops quietly when aborted.
 */
export async function proveProviders(config: Config, options: ProveOptions): Promise<void> {
  const { signal, machine = thisMachine, tryModel = tryOut } = options;
  const candidates = candidateProviders(machine);
  if (config.providers !== undefined || candidates.length === 0) return;
  const proofs = openProofs(config.dataDir, machine);
  for (const trial of trialsOf(config).filter(follows)) {
    const open = candidates.filter((provider) => !proofs.knows(trial.file, provider));
    if (open.length === 0) continue;
    // A driver that takes the machine down is not tried again.
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
    ? [
        'warn',
        `${title} stays on the processor (${why}). Once that has changed, \`dramatis doctor --gpu\` looks again.`,
      ]
    : [
        'info',
        `${title} runs on ${best} from the next start on (${why}). \`--providers cpu\` keeps it on the processor.`,
      ];
}
