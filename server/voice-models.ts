import { availableParallelism } from 'node:os';
import type { CallOptions } from '../voices/engine.ts';
import { openDnsmos, type QualityMeter } from '../voices/quality/dnsmos.ts';
import type { SpeakerEncoder } from '../voices/speaker-encoder.ts';
import { openOnnxSpeaker } from '../voices/speakers/onnx-speaker.ts';
import type { Config } from './config.ts';
import { applyExecution, type ExecutionSettings } from './execution-plan.ts';
import { withInstalledJudges, type InstalledSettings } from './engine-config/auto-engines.ts';

/** The models that judge voices, as far as they are configured. */
export interface VoiceModels {
  readonly encoder: SpeakerEncoder | undefined;
  readonly meter: QualityMeter | undefined;
  close(): Promise<void>;
}

export type VoiceModelSettings = InstalledSettings &
  ExecutionSettings &
  Partial<Pick<Config, 'speakerEncoder' | 'speakerEncoderHash' | 'dnsmos' | 'dnsmosP808' | 'workers'>>;

/** Opens the speaker encoder, where one is configured. `ENGINE_MISSING` where its file is not what it should be. */
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

/** Opens them all. */
export async function openVoiceModels(config: VoiceModelSettings, options: CallOptions): Promise<VoiceModels> {
  const { dnsmos: modelPath, dnsmosP808: p808Path } = withInstalledJudges(config);
  const workers = config.workers ?? Math.max(1, Math.floor(availableParallelism() / 2));
  const encoder = await openEncoder(config, options);
  try {
    const meter =
      modelPath === undefined
        ? undefined
        : await openDnsmos({ modelPath, workers, ...options, ...(p808Path !== undefined && { p808Path }) });
    return {
      encoder,
      meter,
      close: async () => void (await Promise.all([encoder?.close(), meter?.close()])),
    };
  } catch (fault) {
    await encoder?.close();
    throw fault;
  }
}
