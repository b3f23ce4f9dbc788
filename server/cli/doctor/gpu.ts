import type { Config } from '../../config/config.ts';
import { openProofs } from '../../engines/gpu-proofs.ts';
import { follows, isWorthwhile } from '../../gpu/prove.ts';
import { findingOf, trialsOf, tryOut, type GpuFinding } from '../../gpu/trials.ts';
import { providers } from '../../../voices/onnx/execution.ts';
import { table } from '../../terminal/table.ts';

/**
 * Runs each model on each execution provider in a separate process, compares the results with the CPU's, and stores the
 * findings for the server.
 */
export async function checkProviders(config: Config): Promise<GpuFinding[]> {
  const { signal } = new AbortController();
  const proofs = openProofs(config.dataDir);
  const findings: GpuFinding[] = [];
  for (const trial of trialsOf(config)) {
    const base = await tryOut(trial, 'cpu', signal);
    const onProcessor = findingOf(trial.title, 'cpu', base, base);
    for (const provider of providers.filter((each) => each !== 'cpu')) {
      const finding = findingOf(trial.title, provider, await tryOut(trial, provider, signal), base);
      const used = follows(trial) && isWorthwhile(finding, onProcessor);
      if (follows(trial)) proofs.note(trial.file, provider, used);
      findings.push(
        used ? { ...finding, says: `${finding.says}; used unless \`--providers\` says otherwise` } : finding,
      );
    }
    findings.push(onProcessor);
  }
  return findings;
}

/** Formats the findings as a table. */
export function gpuTable(findings: readonly GpuFinding[]): string {
  const rows = findings.map(({ model, provider, ok, medianMs, difference, says }) => [
    ok ? '✓' : '–',
    model,
    provider,
    medianMs === null ? '' : `${medianMs.toFixed(2)} ms`,
    difference === null || provider === 'cpu' ? '' : difference.toExponential(1),
    says,
  ]);
  return table(['', 'model', 'on', 'a run', 'differs by', 'says'], rows);
}
