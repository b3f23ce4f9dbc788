import path from 'node:path';
import { EngineError } from '../../voices/engine.ts';
import type { ExecutedModel, Provider } from '../../voices/onnx/execution.ts';
import { firstLineOf } from '../../voices/onnx/first-line.ts';
import { findMoonshine } from '../../voices/recognizers/moonshine.ts';
import { openProcess } from '../../voices/runtime/process.ts';
import { sileroModelPath } from '../../voices/vads/silero.ts';
import { withInstalledJudges } from '../engines/auto-engines.ts';
import { planEngines, type PlanSettings } from '../engines/engine-plan.ts';
import type { VoiceModelSettings } from '../engines/voice-models.ts';
import type { TrialOrder, TrialRun } from './trial-script.ts';

/** An installed model with a realistic input. */
export interface Trial extends Omit<TrialOrder, 'provider'> {
  readonly title: string;
  readonly model: ExecutedModel;
}

/** A run, or the reason for a failure. */
export type TrialResult = TrialRun | { readonly why: string };

/** Result of one model on one provider. */
export interface GpuFinding {
  readonly model: string;
  readonly provider: Provider;
  readonly ok: boolean;
  /** Median time of a run; null if it does not run. */
  readonly medianMs: number | null;
  /** Largest difference from the CPU's output, relative to that output's largest value; null if it does not run. */
  readonly difference: number | null;
  readonly says: string;
}

/** Tolerance: half precision inside a provider shows in the third digit. */
const mostDifference = 0.01;
const trialTimeoutMs = 120_000;

/** Three seconds of input, as exports of CAM++ and WavLM-large SV name it; a model takes the one it knows. */
const speakerInputs = { x: [1, 300, 80], feature: [1, 300, 80], wav: [1, 48_000] };

/** One window. */
const sileroInputs = { frames: [4, 256], hidden: [1, 1, 128], cell: [1, 1, 128] };

export function trialsOf(config: PlanSettings & VoiceModelSettings): readonly Trial[] {
  const { dnsmos, dnsmosP808, speakerEncoder } = withInstalledJudges(config);
  const { turnDetector } = planEngines(config);
  const smartTurn = turnDetector.kind === 'smart-turn' ? turnDetector.model : undefined;
  const moonshine = path.join(findMoonshine(), 'encoder_model.onnx');
  const rows: readonly (readonly [string, ExecutedModel, string | undefined, Trial['inputs'], number])[] = [
    ['silero', 'silero', sileroModelPath, sileroInputs, 50],
    ['moonshine (encoder)', 'moonshine', moonshine, { input_values: [1, 64_000] }, 10],
    ['smart-turn', 'smart-turn', smartTurn, { input_features: [1, 80, 800] }, 10],
    ['dnsmos P.835', 'dnsmos', dnsmos, { input_1: [1, 144_160] }, 5],
    ['dnsmos P.808', 'dnsmos', dnsmosP808, { input_1: [1, 900, 120] }, 5],
    ['speakers', 'speakers', speakerEncoder, speakerInputs, 10],
  ];
  return rows.flatMap(([title, model, file, inputs, runs]) =>
    file === undefined ? [] : [{ title, model, file: path.resolve(file), inputs, runs }],
  );
}

/** Evaluates a trial against the CPU's result. */
export function findingOf(model: string, provider: Provider, result: TrialResult, base: TrialResult): GpuFinding {
  const no = { model, provider, ok: false, medianMs: null, difference: null };
  if ('why' in result) return { ...no, says: result.why };
  const { medianMs } = result;
  if ('why' in base)
    return { ...no, medianMs, says: 'runs, but the CPU run failed, so there is no result to compare with' };
  const difference = differenceOf(result.output, base.output);
  const ok = difference <= mostDifference;
  const faster = base.medianMs / Math.max(medianMs, 1e-6);
  const pace = provider === 'cpu' ? '' : `; ${faster.toFixed(faster < 0.1 ? 4 : 1)} times the CPU's speed`;
  const says = ok ? `works${pace}` : 'its results differ from those of the CPU: do not use it for this model';
  return { model, provider, ok, medianMs, difference, says };
}

function differenceOf(output: readonly number[], base: readonly number[]): number {
  if (output.length !== base.length || !output.every((value) => Number.isFinite(value)))
    return Number.POSITIVE_INFINITY;
  const largest = Math.max(1e-6, ...base.map((value) => Math.abs(value)));
  return Math.max(0, ...output.map((value, index) => Math.abs(value - (base[index] ?? 0)))) / largest;
}

/** Runs a trial in a separate process at low priority. Rejects only if aborted. */
export async function runTrial(
  { file, inputs, runs }: Trial,
  provider: Provider,
  signal: AbortSignal,
): Promise<TrialResult> {
  const url = new URL('./trial-script.ts', import.meta.url);
  const child = openProcess<TrialOrder, TrialRun>({ name: 'trial', url, data: undefined });
  const timeout = AbortSignal.timeout(trialTimeoutMs);
  try {
    return await child.once({ file, inputs, runs, provider }, { signal: AbortSignal.any([signal, timeout]) });
  } catch (fault) {
    signal.throwIfAborted();
    if (timeout.aborted) return { why: `no result in ${trialTimeoutMs / 1000} s` };
    return { why: firstLineOf(fault instanceof EngineError ? fault.detail : fault).replace(/; the next call .*/, '') };
  } finally {
    await child.close();
  }
}
