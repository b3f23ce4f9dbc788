import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import { providers, type Provider } from '../../voices/execution.ts';
import { findMoonshine } from '../../voices/recognizers/moonshine.ts';
import type { Config } from '../config.ts';
import { withInstalledJudges } from '../engine-config/auto-engines.ts';
import { planEngines } from '../engine-config/engine-plan.ts';
import type { TrialOrder, TrialResult } from './gpu-trial.ts';
import { table } from './table.ts';

/** How one model fares on one provider. */
export interface GpuFinding {
  readonly model: string;
  readonly provider: Provider;
  readonly ok: boolean;
  /** Of a run; null where it does not run. */
  readonly medianMs: number | null;
  /** The largest difference from the processor's output, as a share of that output's largest value; null likewise. */
  readonly difference: number | null;
  readonly says: string;
}

/** Half precision inside of a provider shows in the third digit. */
const mostDifference = 0.01;
const patienceMs = 120_000;
const run = promisify(execFile);
const require = createRequire(import.meta.url);

type Trial = Pick<TrialOrder, 'file' | 'inputs' | 'runs'>;

/** Three seconds, by the names that exports of CAM++ and WavLM-large SV have; a model takes the one it knows. */
const speakerInputs = { x: [1, 300, 80], feature: [1, 300, 80], wav: [1, 48_000] };

/** The models that there are here, each with an input as in service. */
function trialsOf(config: Config): Readonly<Record<string, Trial>> {
  const { dnsmos, dnsmosP808, speakerEncoder } = withInstalledJudges(config);
  const { turns } = planEngines(config);
  const packageFile = (name: string): string => require.resolve(name);
  const moonshine = path.join(findMoonshine(), 'encoder_model.onnx');
  const trials: Record<string, Trial | undefined> = {
    silero: {
      file: packageFile('@ricky0123/vad-web/dist/silero_vad_v6.onnx'),
      inputs: { input: [1, 576], state: [2, 1, 128], sr: 16_000 },
      runs: 50,
    },
    'moonshine (encoder)': { file: moonshine, inputs: { input_values: [1, 64_000] }, runs: 10 },
    'smart-turn':
      turns.kind === 'smart-turn'
        ? { file: turns.model, inputs: { input_features: [1, 80, 800] }, runs: 10 }
        : undefined,
    'dnsmos P.835': dnsmos === undefined ? undefined : { file: dnsmos, inputs: { input_1: [1, 144_160] }, runs: 5 },
    'dnsmos P.808':
      dnsmosP808 === undefined ? undefined : { file: dnsmosP808, inputs: { input_1: [1, 900, 120] }, runs: 5 },
    speakers: speakerEncoder === undefined ? undefined : { file: speakerEncoder, inputs: speakerInputs, runs: 10 },
  };
  return Object.fromEntries(Object.entries(trials).filter((entry): entry is [string, Trial] => entry[1] !== undefined));
}

/** Runs each model on each provider, each in a process of its own, and compares with the processor. */
export async function checkProviders(config: Config): Promise<GpuFinding[]> {
  const findings: GpuFinding[] = [];
  for (const [model, trial] of Object.entries(trialsOf(config))) {
    const base = await tryOut({ ...trial, provider: 'cpu' });
    for (const provider of providers) {
      const result = provider === 'cpu' ? base : await tryOut({ ...trial, provider });
      findings.push(findingOf(model, provider, result, base));
    }
  }
  return findings;
}

/** Says what a trial came to. */
export function findingOf(model: string, provider: Provider, result: TrialResult, base: TrialResult): GpuFinding {
  const no = { model, provider, ok: false, medianMs: null, difference: null };
  if ('why' in result) return { ...no, says: result.why };
  const { medianMs } = result;
  if ('why' in base) return { ...no, medianMs, says: 'runs, but the processor does not: nothing to compare with' };
  const difference = differenceOf(result.output, base.output);
  const ok = difference <= mostDifference;
  const faster = base.medianMs / Math.max(medianMs, 1e-6);
  const pace = provider === 'cpu' ? '' : `; ${faster.toFixed(1)} times the processor's speed`;
  const says = ok ? `serves${pace}` : 'gives other results than the processor: do not use it for this model';
  return { model, provider, ok, medianMs, difference, says };
}

function differenceOf(output: readonly number[], base: readonly number[]): number {
  if (output.length !== base.length || !output.every((value) => Number.isFinite(value)))
    return Number.POSITIVE_INFINITY;
  const largest = Math.max(1e-6, ...base.map((value) => Math.abs(value)));
  return Math.max(0, ...output.map((value, index) => Math.abs(value - (base[index] ?? 0)))) / largest;
}

async function tryOut(order: TrialOrder): Promise<TrialResult> {
  const script = path.join(import.meta.dirname, 'gpu-trial.ts');
  try {
    const { stdout } = await run(process.execPath, [script, JSON.stringify(order)], {
      timeout: patienceMs,
      maxBuffer: 2 ** 24,
    });
    return JSON.parse(stdout) as TrialResult;
  } catch (fault) {
    const signal = fault instanceof Error && 'signal' in fault ? String(fault.signal) : 'an error';
    return { why: `the process ended with ${signal}` };
  }
}

/** As a table. */
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
