import { availableParallelism } from 'node:os';
import type { CallOptions } from '../../voices/engine.ts';
import { openDnsmos } from '../../voices/quality/dnsmos.ts';
import { openOnnxSpeaker } from '../../voices/speakers/onnx-speaker.ts';
import type { Config } from '../config/config.ts';
import { applyExecution, type ExecutionSettings } from './execution-plan.ts';
import { withInstalledJudges, type InstalledSettings } from './auto-engines.ts';

export type VoiceModelSettings = InstalledSettings &
  ExecutionSettings &
  Partial<Pick<Config, 'speakerEncoder' | 'speakerEncoderHash' | 'dnsmos' | 'dnsmosP808' | 'workers'>>;

/** Opens the configured speaker encoder, if any. Throws `ENGINE_MISSING` if its file is not as expected. */
export async function openEncoder(
  config: VoiceModelSettings,
  { signal }: CallOptions,
): Promise<Awaited<ReturnType<typeof openOnnxSpeaker>> | undefined> {
  applyExecution(config);
  const { speakerEncoder: modelPath, speakerEncoderHash: sha256 } = withInstalledJudges(config);
  return modelPath === undefined
    ? undefined
    : openOnnxSpeaker({ modelPath, signal, ...(sha256 !== undefined && { sha256 }) });
}

/** Opens the configured DNSMOS quality meter, if any. Throws `ENGINE_MISSING` if its files are not as expected. */
export async function openMeter(
  config: VoiceModelSettings,
  options: CallOptions,
): Promise<Awaited<ReturnType<typeof openDnsmos>> | undefined> {
  applyExecution(config);
  const { dnsmos: modelPath, dnsmosP808: p808Path } = withInstalledJudges(config);
  const workers = config.workers ?? Math.max(1, Math.floor(availableParallelism() / 2));
  return modelPath === undefined
    ? undefined
    : openDnsmos({ modelPath, workers, ...options, ...(p808Path !== undefined && { p808Path }) });
}
